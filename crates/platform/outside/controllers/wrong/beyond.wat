;; Has the place for a line where there is no memory.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const -256)
    (func (export "start") (param i32 i32) (result i32) i32.const 0))
  (core instance $i (instantiate $m))
  (func $f (param "line" string) (result string) (canon lift (core func $i "start") (memory $i "memory") (realloc (func $i "realloc"))))
  (export "start" (func $f))
  (export "event" (func $f)))
