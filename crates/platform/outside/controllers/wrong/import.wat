;; Asks for a function of the system.
(component (import "clock" (func)))
