;; Has a component in it.
(component (component))
