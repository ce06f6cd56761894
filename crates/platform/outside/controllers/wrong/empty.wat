;; Has nothing in it.
(component)
