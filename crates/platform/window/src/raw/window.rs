//! The window, its renderer, and its clipboard.

use std::ffi::{CStr, c_int};
use std::ptr::{NonNull, null};

use mimosa_video::{Colours, Matrix, Size, View};
use sdl::rect::SDL_FRect;
use sdl::render::{SDL_Renderer, SDL_Texture};
use sdl::video::SDL_Window;
use sdl3_sys as sdl;

use super::{Refusal, Subsystem, c_string, check};
use crate::pointer::Area;

/// The initial state of a window.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) title: String,
    pub(crate) size: Size,
    pub(crate) is_fullscreen: bool,
    pub(crate) waits_for_refresh: bool,
}

/// A window and its renderer. They stay in their thread: pointers do not leave it.
#[derive(Debug)]
pub(crate) struct RawWindow {
    window: NonNull<SDL_Window>,
    renderer: NonNull<SDL_Renderer>,
    texture: Option<Texture>,
    // The window system ends after the others.
    _part: Subsystem,
}

/// The texture that holds the picture.
#[derive(Debug)]
struct Texture {
    pointer: NonNull<SDL_Texture>,
    size: Size,
    colours: Colours,
}

impl RawWindow {
    pub(crate) fn open(part: Subsystem, shape: &Shape) -> Result<Self, Refusal> {
        use sdl::video::{
            SDL_WINDOW_FULLSCREEN, SDL_WINDOW_HIGH_PIXEL_DENSITY, SDL_WINDOW_RESIZABLE,
        };
        let title = c_string(&shape.title);
        let mut flags = SDL_WINDOW_RESIZABLE | SDL_WINDOW_HIGH_PIXEL_DENSITY;
        if shape.is_fullscreen {
            flags |= SDL_WINDOW_FULLSCREEN;
        }
        let (width, height) = (shape.size.width(), shape.size.height());
        let (width, height) = (width.cast_signed(), height.cast_signed());
        // SAFETY: the window system is in use, and SDL copies the title.
        let window = unsafe { sdl::video::SDL_CreateWindow(title.as_ptr(), width, height, flags) };
        let window = NonNull::new(window).ok_or_else(Refusal::last)?;
        // SAFETY: the window is there; without a name SDL takes the machine's default.
        let renderer = unsafe { sdl::render::SDL_CreateRenderer(window.as_ptr(), null()) };
        let Some(renderer) = NonNull::new(renderer) else {
            let refusal = Refusal::last();
            // SAFETY: it is there, and nothing uses it afterwards.
            unsafe { sdl::video::SDL_DestroyWindow(window.as_ptr()) };
            return Err(refusal);
        };
        let mut raw = Self {
            window,
            renderer,
            texture: None,
            _part: part,
        };
        raw.set_refresh_wait(shape.waits_for_refresh);
        Ok(raw)
    }

    /// Has each present wait for the display's refresh, or not.
    pub(crate) fn set_refresh_wait(&mut self, on: bool) {
        // SAFETY: the renderer is there. Where it cannot wait for the refresh, SDL waits by a timer; every
        // renderer can do without.
        unsafe { sdl::render::SDL_SetRenderVSync(self.renderer.as_ptr(), c_int::from(on)) };
    }

    /// Whether the renderer waits for the display's refresh by itself, when it is asked to. With the
    /// others, SDL waits by a timer after the picture was shown.
    pub(crate) fn can_wait_for_refresh(&self) -> bool {
        // SDL is built with renderers for OpenGL, OpenGL ES and the processor.
        if !self.renderer_name().starts_with("opengl") {
            return false;
        }
        let mut before = 0;
        let mut interval = 0;
        // SAFETY: the renderer is there, whose context of OpenGL is this thread's; SDL writes two numbers.
        unsafe {
            let renderer = self.renderer.as_ptr();
            sdl::render::SDL_GetRenderVSync(renderer, &raw mut before);
            sdl::render::SDL_SetRenderVSync(renderer, 1);
            sdl::video::SDL_GL_GetSwapInterval(&raw mut interval);
            sdl::render::SDL_SetRenderVSync(renderer, before);
        }
        interval != 0
    }

    /// The window's number on an X server; `None` where the window system is another one.
    pub(crate) fn x11_window(&self) -> Option<u32> {
        // SAFETY: the window is there, and its properties are as long as it is; the name is a C string.
        let number = unsafe {
            let properties = sdl::video::SDL_GetWindowProperties(self.window.as_ptr());
            let name = sdl::video::SDL_PROP_WINDOW_X11_WINDOW_NUMBER;
            sdl::properties::SDL_GetNumberProperty(properties, name, 0)
        };
        u32::try_from(number).ok().filter(|number| *number != 0)
    }

    /// The name of the renderer: `opengl`, `software` and the like.
    pub(crate) fn renderer_name(&self) -> String {
        // SAFETY: the renderer is there.
        let name = unsafe { sdl::render::SDL_GetRendererName(self.renderer.as_ptr()) };
        if name.is_null() {
            return String::new();
        }
        // SAFETY: a C string that is there as long as the program.
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    }

    /// The columns and rows, in the coordinates of pointers.
    pub(crate) fn size(&self) -> (f32, f32) {
        let (mut width, mut height) = (0, 0);
        // SAFETY: the window is there, and SDL writes two numbers.
        unsafe {
            sdl::video::SDL_GetWindowSize(self.window.as_ptr(), &raw mut width, &raw mut height)
        };
        (width as f32, height as f32)
    }

    /// The columns and rows, in pixels.
    pub(crate) fn pixels(&self) -> (f32, f32) {
        let (mut width, mut height) = (0, 0);
        // SAFETY: the renderer is there, and SDL writes two numbers.
        unsafe {
            sdl::render::SDL_GetCurrentRenderOutputSize(
                self.renderer.as_ptr(),
                &raw mut width,
                &raw mut height,
            )
        };
        (width as f32, height as f32)
    }

    pub(crate) fn is_fullscreen(&self) -> bool {
        // SAFETY: the window is there.
        let flags = unsafe { sdl::video::SDL_GetWindowFlags(self.window.as_ptr()) };
        (flags & sdl::video::SDL_WINDOW_FULLSCREEN).0 != 0
    }

    pub(crate) fn set_fullscreen(&mut self, on: bool) -> Result<(), Refusal> {
        // SAFETY: the window is there.
        check(unsafe { sdl::video::SDL_SetWindowFullscreen(self.window.as_ptr(), on) })
    }

    pub(crate) fn set_title(&mut self, title: &str) {
        let title = c_string(title);
        // SAFETY: the window is there, and SDL copies the title.
        unsafe { sdl::video::SDL_SetWindowTitle(self.window.as_ptr(), title.as_ptr()) };
    }

    /// Locks the pointer: its movements are reported from then on, not its place.
    pub(crate) fn set_lock(&mut self, on: bool) -> Result<(), Refusal> {
        // SAFETY: the window is there.
        check(unsafe { sdl::mouse::SDL_SetWindowRelativeMouseMode(self.window.as_ptr(), on) })
    }

    /// Uploads a picture for the next [`Self::draw_picture`].
    pub(crate) fn upload(&mut self, view: &View<'_>) -> Result<(), Refusal> {
        let (size, colours) = (view.size(), view.colours());
        let texture = match &self.texture {
            Some(kept) if (kept.size, kept.colours) == (size, colours) => kept.pointer,
            _ => self.new_texture(size, colours)?,
        };
        let [y, u, v] = view.planes();
        let stride = |stride: usize| c_int::try_from(stride).unwrap_or(c_int::MAX);
        // SAFETY: the texture is there, in this format. A view has in each plane the rows
        // and samples of its size, `stride` bytes apart, and SDL reads no more.
        check(unsafe {
            sdl::render::SDL_UpdateYUVTexture(
                texture.as_ptr(),
                null(),
                y.data.as_ptr(),
                stride(y.stride),
                u.data.as_ptr(),
                stride(u.stride),
                v.data.as_ptr(),
                stride(v.stride),
            )
        })
    }

    fn new_texture(
        &mut self,
        size: Size,
        colours: Colours,
    ) -> Result<NonNull<SDL_Texture>, Refusal> {
        use sdl::pixels::SDL_Colorspace as Space;
        use sdl::render::{
            SDL_PROP_TEXTURE_CREATE_ACCESS_NUMBER as ACCESS,
            SDL_PROP_TEXTURE_CREATE_COLORSPACE_NUMBER as COLOURS,
            SDL_PROP_TEXTURE_CREATE_FORMAT_NUMBER as FORMAT,
            SDL_PROP_TEXTURE_CREATE_HEIGHT_NUMBER as HEIGHT,
            SDL_PROP_TEXTURE_CREATE_WIDTH_NUMBER as WIDTH, SDL_TEXTUREACCESS_STREAMING,
        };
        self.drop_texture();
        let space = match (colours.matrix, colours.is_full_range) {
            (Matrix::Bt709, false) => Space::BT709_LIMITED,
            (Matrix::Bt709, true) => Space::BT709_FULL,
            (Matrix::Bt601, false) => Space::BT601_LIMITED,
            (Matrix::Bt601, true) => Space::BT601_FULL,
        };
        // SAFETY: makes an empty list.
        let properties = unsafe { sdl::properties::SDL_CreateProperties() };
        for (name, value) in [
            (FORMAT, i64::from(sdl::pixels::SDL_PIXELFORMAT_IYUV.0)),
            (ACCESS, i64::from(SDL_TEXTUREACCESS_STREAMING.0)),
            (COLOURS, i64::from(space.0)),
            (WIDTH, i64::from(size.width())),
            (HEIGHT, i64::from(size.height())),
        ] {
            // SAFETY: the names are C strings; without a list SDL refuses.
            unsafe { sdl::properties::SDL_SetNumberProperty(properties, name, value) };
        }
        // SAFETY: the renderer is there.
        let texture = unsafe {
            sdl::render::SDL_CreateTextureWithProperties(self.renderer.as_ptr(), properties)
        };
        let texture = NonNull::new(texture).ok_or_else(Refusal::last);
        // SAFETY: nothing uses the list afterwards.
        unsafe { sdl::properties::SDL_DestroyProperties(properties) };
        let texture = texture?;
        self.texture = Some(Texture {
            pointer: texture,
            size,
            colours,
        });
        Ok(texture)
    }

    fn drop_texture(&mut self) {
        if let Some(old) = self.texture.take() {
            // SAFETY: it is there, and nothing uses it afterwards.
            unsafe { sdl::render::SDL_DestroyTexture(old.pointer.as_ptr()) };
        }
    }

    /// Makes the whole window black.
    pub(crate) fn clear(&mut self) -> Result<(), Refusal> {
        let renderer = self.renderer.as_ptr();
        // SAFETY: the renderer is there.
        check(unsafe {
            sdl::render::SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255)
                && sdl::render::SDL_RenderClear(renderer)
        })
    }

    /// Draws the picture that was uploaded last, if there is one.
    pub(crate) fn draw_picture(&mut self, area: Area) -> Result<(), Refusal> {
        let Some(texture) = &self.texture else {
            return Ok(());
        };
        let place = rectangle(area);
        // SAFETY: renderer and texture are there; SDL reads the rectangle.
        check(unsafe {
            sdl::render::SDL_RenderTexture(
                self.renderer.as_ptr(),
                texture.pointer.as_ptr(),
                null(),
                &raw const place,
            )
        })
    }

    /// Darkens a part of the window.
    pub(crate) fn draw_shade(&mut self, area: Area, darkness: u8) -> Result<(), Refusal> {
        let renderer = self.renderer.as_ptr();
        let place = rectangle(area);
        // SAFETY: the renderer is there; SDL reads the rectangle.
        check(unsafe {
            sdl::render::SDL_SetRenderDrawBlendMode(renderer, sdl::blendmode::SDL_BLENDMODE_BLEND)
                && sdl::render::SDL_SetRenderDrawColor(renderer, 0, 0, 0, darkness)
                && sdl::render::SDL_RenderFillRect(renderer, &raw const place)
        })
    }

    /// Writes text in white, in letters of 8 by 8 blocks of `scale` pixels.
    pub(crate) fn draw_text(
        &mut self,
        text: &str,
        (x, y): (f32, f32),
        scale: f32,
    ) -> Result<(), Refusal> {
        let renderer = self.renderer.as_ptr();
        let text = c_string(text);
        // SAFETY: the renderer is there; SDL reads the text.
        check(unsafe {
            let written = sdl::render::SDL_SetRenderScale(renderer, scale, scale)
                && sdl::render::SDL_SetRenderDrawColor(renderer, 255, 255, 255, 255)
                && sdl::render::SDL_RenderDebugText(renderer, x / scale, y / scale, text.as_ptr());
            sdl::render::SDL_SetRenderScale(renderer, 1.0, 1.0) && written
        })
    }

    /// Hands what was drawn so far to the system.
    pub(crate) fn flush(&mut self) -> Result<(), Refusal> {
        // SAFETY: the renderer is there.
        check(unsafe { sdl::render::SDL_FlushRenderer(self.renderer.as_ptr()) })
    }

    /// Shows the drawing.
    pub(crate) fn present(&mut self) -> Result<(), Refusal> {
        // SAFETY: the renderer is there.
        check(unsafe { sdl::render::SDL_RenderPresent(self.renderer.as_ptr()) })
    }
}

impl Drop for RawWindow {
    fn drop(&mut self) {
        self.drop_texture();
        // SAFETY: both are there, and nothing uses them afterwards.
        unsafe {
            sdl::render::SDL_DestroyRenderer(self.renderer.as_ptr());
            sdl::video::SDL_DestroyWindow(self.window.as_ptr());
        }
    }
}

fn rectangle(area: Area) -> SDL_FRect {
    SDL_FRect {
        x: area.x,
        y: area.y,
        w: area.width,
        h: area.height,
    }
}

/// The text on the clipboard, if there is any.
pub(crate) fn clipboard(_: &RawWindow) -> Option<String> {
    // SAFETY: the window system is in use in this thread, because there is a window.
    let text = NonNull::new(unsafe { sdl::clipboard::SDL_GetClipboardText() })?;
    // SAFETY: a C string that SDL gives to its caller.
    let copy = unsafe { CStr::from_ptr(text.as_ptr()) }
        .to_string_lossy()
        .into_owned();
    // SAFETY: SDL allocated it, and nothing uses it afterwards.
    unsafe { sdl::stdinc::SDL_free(text.as_ptr().cast()) };
    (!copy.is_empty()).then_some(copy)
}

pub(crate) fn set_clipboard(_: &mut RawWindow, text: &str) -> Result<(), Refusal> {
    let text = c_string(text);
    // SAFETY: as in `clipboard`; SDL copies the text.
    check(unsafe { sdl::clipboard::SDL_SetClipboardText(text.as_ptr()) })
}

/// Shows the cursor over the window, or hides it.
pub(crate) fn set_cursor(_: &mut RawWindow, is_shown: bool) {
    // SAFETY: as in `clipboard`.
    unsafe {
        if is_shown {
            sdl::mouse::SDL_ShowCursor();
        } else {
            sdl::mouse::SDL_HideCursor();
        }
    }
}
