# Read by CMake before SDL's own lists: the build script of sdl3-sys asks for the static library and
# has no way to leave out the shared one.
set(SDL_SHARED OFF CACHE BOOL "The native client links SDL statically")
