;; Has two modules.
(component (core module) (core module))
