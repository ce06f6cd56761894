# Read by CMake before SDL's own lists: the build script of sdl3-sys asks for the static library and
# has no way to leave out the shared one.
set(SDL_SHARED OFF CACHE BOOL "The native client links SDL statically")

# What the native client has no use for, which is half of what there is to compile.
foreach(part IN ITEMS CAMERA DIALOG GPU HAPTIC TRAY VULKAN)
    set(SDL_${part} OFF CACHE BOOL "The native client does not use it")
endforeach()
