//! A safe interface to SVT-AV1's functions.
//!
//! Callers pass plain numbers and get bytes; SVT-AV1's own structures, which hold pointers,
//! stay in this file and in `library`.

#![expect(unsafe_code, reason = "calls into C")]

use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use mimosa_video::{Picture, Plane, Size};

use crate::library::{SvtAv1Library, c};

/// The time between two looks for a frame.
const LOOK: Duration = Duration::from_micros(100);
/// The most looks for a frame, about five seconds' worth.
const LOOKS: u32 = 50_000;

/// The reason why SVT-AV1 refused a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    /// SVT-AV1 returned this error.
    Status(i32),
    /// SVT-AV1 gave no frame for a long time.
    Nothing,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(f, "status {status:#x}"),
            Self::Nothing => f.write_str("no frame within five seconds"),
        }
    }
}

/// The settings that never change after the encoder is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedSettings {
    pub(crate) size: Size,
    pub(crate) frames_per_second: u32,
    pub(crate) threads: u8,
    pub(crate) preset: u8,
}

/// A temporal unit.
#[derive(Debug)]
pub(crate) struct TemporalUnit {
    /// The number of the unit's picture.
    pub(crate) number: u32,
    pub(crate) data: Vec<u8>,
    pub(crate) is_keyframe: bool,
}

/// An open encoder.
#[derive(Debug)]
pub(crate) struct Raw {
    library: &'static SvtAv1Library,
    handle: NonNull<c::EbComponentType>,
    size: Size,
    progress: Progress,
}

/// The progress of an encoder, which says how it must be closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Progress {
    /// The handle exists.
    Made,
    /// The encoder's threads run.
    Running,
    /// The encoder has received a picture.
    Begun,
}

// SAFETY: SVT-AV1's functions may be called from any thread, one at a time for an
// encoder, which `&mut self` ensures.
unsafe impl Send for Raw {}

/// Waits until no other thread opens or closes an encoder, and keeps others from it.
///
/// SVT-AV1 keeps the list of the machine's processors in a variable of the process, which each
/// encoder that opens fills and each that closes frees: two at once crash.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static OPENS_OR_CLOSES: Mutex<()> = Mutex::new(());
    OPENS_OR_CLOSES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

impl Raw {
    /// Opens an encoder.
    ///
    /// # Errors
    ///
    /// SVT-AV1's error.
    pub(crate) fn open(
        library: &'static SvtAv1Library,
        fixed: &FixedSettings,
    ) -> Result<Self, Refusal> {
        let one = one_at_a_time();
        let mut handle = null_mut();
        let mut configuration = MaybeUninit::zeroed();
        // SAFETY: both pointers are written to; the library fills the whole structure,
        // for which zeros are valid as well.
        let status = unsafe {
            library.functions.svt_av1_enc_init_handle(
                &raw mut handle,
                null_mut(),
                configuration.as_mut_ptr(),
            )
        };
        check(status)?;
        let handle = NonNull::new(handle).ok_or(Refusal::Status(status))?;
        let mut raw = Self {
            library,
            handle,
            size: fixed.size,
            progress: Progress::Made,
        };
        // SAFETY: the call before filled it.
        let mut configuration = unsafe { configuration.assume_init() };
        configure(&mut configuration, fixed);
        let started = raw.start(&mut configuration);
        // Closing the encoder, if it did not start, takes the lock again.
        drop(one);
        started.map(|()| raw)
    }

    /// Starts the encoder's threads.
    fn start(&mut self, configuration: &mut c::EbSvtAv1EncConfiguration) -> Result<(), Refusal> {
        let functions = &self.library.functions;
        // SAFETY: the handle is there, and the library copies the structure.
        check(unsafe { functions.svt_av1_enc_set_parameter(self.handle.as_ptr(), configuration) })?;
        // SAFETY: the handle has its parameters.
        check(unsafe { functions.svt_av1_enc_init(self.handle.as_ptr()) })?;
        self.progress = Progress::Running;
        Ok(())
    }

    /// Sends `picture` to the encoder as number `number`, to be encoded with `quantiser`.
    ///
    /// # Errors
    ///
    /// SVT-AV1's error.
    pub(crate) fn send(
        &mut self,
        picture: &Picture,
        number: u32,
        quantiser: u8,
    ) -> Result<(), Refusal> {
        assert_eq!(picture.size(), self.size, "the size was checked before");
        let stride = |plane| u32::try_from(picture.stride(plane)).unwrap_or(u32::MAX);
        let samples = |plane| picture.plane(plane).as_ptr().cast_mut();
        let mut planes = c::EbSvtIOFormat {
            luma: samples(Plane::Y),
            cb: samples(Plane::U),
            cr: samples(Plane::V),
            luma_ext: null_mut(),
            cb_ext: null_mut(),
            cr_ext: null_mut(),
            y_stride: stride(Plane::Y),
            cr_stride: stride(Plane::V),
            cb_stride: stride(Plane::U),
            width: self.size.width(),
            height: self.size.height(),
            origin_x: 0,
            origin_y: 0,
            color_fmt: c::EbColorFormat_EB_YUV420,
            bit_depth: c::EbBitDepth_EB_EIGHT_BIT,
        };
        // SAFETY: zeros are valid for every field: numbers and pointers.
        let mut header: c::EbBufferHeaderType = unsafe { MaybeUninit::zeroed().assume_init() };
        header.size = u32::try_from(size_of_val(&header)).unwrap_or(u32::MAX);
        header.p_buffer = (&raw mut planes).cast();
        let bytes = picture.planes().map(<[u8]>::len).iter().sum::<usize>();
        header.n_filled_len = u32::try_from(bytes).unwrap_or(u32::MAX);
        header.pts = i64::from(number);
        header.qp = u32::from(quantiser);
        header.pic_type = c::EbAv1PictureType_EB_AV1_INVALID_PICTURE;
        // SAFETY: the encoder runs; it copies the three planes, which have the size that
        // it was opened for, before it returns, and does not write to them.
        check(unsafe {
            self.library
                .functions
                .svt_av1_enc_send_picture(self.handle.as_ptr(), &raw mut header)
        })?;
        self.progress = Progress::Begun;
        Ok(())
    }

    /// Tells the encoder that no further picture comes.
    fn end(&mut self) {
        // SAFETY: zeros are valid for every field: numbers and pointers.
        let mut header: c::EbBufferHeaderType = unsafe { MaybeUninit::zeroed().assume_init() };
        header.flags = c::EB_BUFFERFLAG_EOS;
        // SAFETY: the encoder runs; without a picture it reads nothing but the flag.
        unsafe {
            self.library
                .functions
                .svt_av1_enc_send_picture(self.handle.as_ptr(), &raw mut header)
        };
    }

    /// Waits for the next temporal unit.
    ///
    /// # Errors
    ///
    /// SVT-AV1's error.
    pub(crate) fn receive(&mut self) -> Result<TemporalUnit, Refusal> {
        for _ in 0..LOOKS {
            let mut packet = null_mut();
            // SAFETY: the encoder runs; the pointer is written to where there is a packet.
            let status = unsafe {
                self.library.functions.svt_av1_enc_get_packet(
                    self.handle.as_ptr(),
                    &raw mut packet,
                    0,
                )
            };
            if status == c::EbErrorType_EB_NoErrorEmptyQueue {
                wait();
                continue;
            }
            let header = NonNull::new(packet).ok_or(Refusal::Status(status))?;
            // SAFETY: the library gave it, and leaves it alone until it is given back.
            let unit = unit(unsafe { header.as_ref() });
            // SAFETY: the packet is the library's, and not used afterwards.
            unsafe {
                self.library
                    .functions
                    .svt_av1_enc_release_out_buffer(&raw mut packet);
            };
            check(status)?;
            return Ok(unit);
        }
        Err(Refusal::Nothing)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _one = one_at_a_time();
        // The library waits for the last frame of its stream, for ever if there is none.
        if self.progress == Progress::Running {
            let _ = self.send(&Picture::new(self.size), 0, 63);
        }
        if self.progress == Progress::Begun {
            self.end();
            // SAFETY: the encoder runs; this waits for its last frame and stops its
            // threads.
            unsafe {
                self.library
                    .functions
                    .svt_av1_enc_deinit(self.handle.as_ptr())
            };
        }
        // SAFETY: nothing uses the handle afterwards.
        unsafe {
            self.library
                .functions
                .svt_av1_enc_deinit_handle(self.handle.as_ptr())
        };
    }
}

fn check(status: c::EbErrorType) -> Result<(), Refusal> {
    if status == c::EbErrorType_EB_ErrorNone {
        Ok(())
    } else {
        Err(Refusal::Status(status))
    }
}

/// Copies the contents of `packet`.
fn unit(packet: &c::EbBufferHeaderType) -> TemporalUnit {
    let length = usize::try_from(packet.n_filled_len).unwrap_or(0);
    let data = if packet.p_buffer.is_null() {
        Vec::new()
    } else {
        // SAFETY: the library has written as many bytes there.
        unsafe { std::slice::from_raw_parts(packet.p_buffer, length) }.to_vec()
    };
    TemporalUnit {
        number: u32::try_from(packet.pts).unwrap_or(u32::MAX),
        data,
        is_keyframe: packet.pic_type == c::EbAv1PictureType_EB_AV1_KEY_PICTURE,
    }
}

fn configure(configuration: &mut c::EbSvtAv1EncConfiguration, fixed: &FixedSettings) {
    configuration.enc_mode = i8::try_from(fixed.preset).unwrap_or(i8::MAX);
    configuration.source_width = fixed.size.width();
    configuration.source_height = fixed.size.height();
    configuration.frame_rate_numerator = fixed.frames_per_second;
    configuration.frame_rate_denominator = 1;
    configuration.logical_processors = u32::from(fixed.threads);
    // Each picture refers only to earlier ones, and no keyframe comes unasked.
    configuration.pred_structure =
        u8::try_from(c::SvtAv1PredStructure_SVT_AV1_PRED_LOW_DELAY_B).unwrap_or(1);
    configuration.hierarchical_levels = 3;
    configuration.intra_period_length = -1;
    // Each of these would wait for later pictures.
    configuration.look_ahead_distance = 0;
    configuration.enable_tf = 0;
    configuration.scene_change_detection = 0;
    // Each picture has the quantiser that is sent with it, in all its parts.
    configuration.rate_control_mode = c::SvtAv1RcMode_SVT_AV1_RC_MODE_CQP_OR_CRF;
    configuration.enable_adaptive_quantization = 0;
    configuration.use_qp_file = 1;
    configuration.screen_content_mode = 0;
    // The numbers are those of ITU-T H.273: BT.709 throughout.
    configuration.color_primaries = 1;
    configuration.transfer_characteristics = 1;
    configuration.matrix_coefficients = 1;
}

#[expect(clippy::disallowed_methods, reason = "SVT-AV1's threads do the work")]
fn wait() {
    thread::sleep(LOOK);
}
