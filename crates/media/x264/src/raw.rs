//! A safe interface to libx264's functions.
//!
//! Callers pass plain numbers; libx264's own structures, which hold pointers, stay in this
//! file and in `library`.

#![expect(unsafe_code, reason = "calls into C")]

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use mimosa_units::Bytes;
use mimosa_video::{Picture, Plane, Size};

use crate::library::{Functions, c as x264};

/// The settings that never change after the encoder is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedSettings {
    pub(crate) size: Size,
    pub(crate) frames_per_second: u32,
    /// The factor by which the frame rate that rate control assumes is lower than the real
    /// one.
    pub(crate) slowdown: u32,
    pub(crate) threads: c_int,
    pub(crate) references: c_int,
    /// Ten times the level of H.264.
    pub(crate) level: c_int,
    /// Whether bits are coded by CABAC, and not by CAVLC.
    pub(crate) is_arithmetic: bool,
    /// The lowest quantiser that rate control uses.
    pub(crate) finest: f32,
    /// The part of the buffer that is full at the start.
    pub(crate) full: f32,
    /// libx264's `ratetol`: the part by which a frame may leave its plan.
    pub(crate) tolerance: f32,
}

/// The settings that can change from frame to frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Tuning {
    /// The rate in kilobits per second.
    pub(crate) rate: c_int,
    /// The size of the buffer in kilobits.
    pub(crate) buffer: c_int,
    pub(crate) inter: c_uint,
    pub(crate) intra: c_uint,
    pub(crate) motion: c_int,
    pub(crate) refinement: c_int,
    pub(crate) trellis: c_int,
    /// The number of slices that a frame is cut into, with one thread.
    pub(crate) slices: c_int,
}

/// The instructions for one picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PictureTask {
    /// The picture's number, above all earlier ones.
    pub(crate) pts: i64,
    pub(crate) keyframe: bool,
    /// The quantiser to begin with.
    pub(crate) quantiser: u8,
    /// The payload of a unit of supplemental information that precedes the slices; zero for none.
    pub(crate) ballast: Bytes,
}

/// libx264's figures of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameFigures {
    pub(crate) is_keyframe: bool,
    /// libx264's effective rate factor.
    pub(crate) rate_factor: f32,
    /// The mean squared error of the brightness, where libx264 gives the picture as
    /// decoders will have it.
    pub(crate) distortion: Option<f64>,
}

/// A NAL unit with its start code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit<'a> {
    /// libx264's number of the unit's type.
    pub(crate) kind: c_uint,
    pub(crate) data: &'a [u8],
    /// Whether the unit is the frame's last slice, as far as libx264 says: with several threads it does
    /// not.
    pub(crate) is_last: bool,
}

/// What libx264's callback needs.
struct Sink<'a> {
    x264: &'static Functions,
    buffer: &'a mut Vec<u8>,
    /// Number of the picture's last macroblock.
    last_block: c_int,
    each: &'a mut dyn FnMut(Unit<'_>),
}

/// Bytes that a unit may need beyond one and a half times its payload, says `x264.h`.
const BEYOND: usize = 5 + 64;

/// Writes a unit as soon as it is coded, and gives it to the [`Sink`] that `opaque` points to.
///
/// # Safety
///
/// libx264 calls this within `x264_encoder_encode`, in the thread of that call, with a unit of its own and
/// the `opaque` of the picture that it encodes, which points to a [`Sink`] that nobody else uses.
unsafe extern "C" fn coded(
    encoder: *mut x264::x264_t,
    unit: *mut x264::x264_nal_t,
    opaque: *mut c_void,
) {
    // SAFETY: so says the caller.
    let (sink, unit) = unsafe { (&mut *opaque.cast::<Sink<'_>>(), &mut *unit) };
    let payload = usize::try_from(unit.i_payload).unwrap_or(0);
    let needed = payload * 3 / 2 + BEYOND;
    if sink.buffer.len() < needed {
        sink.buffer.resize(needed, 0);
    }
    // SAFETY: the unit is the one that libx264 has just coded, and the buffer is as long as it wants.
    unsafe {
        sink.x264
            .all
            .x264_nal_encode(encoder, sink.buffer.as_mut_ptr(), unit);
    }
    let length = usize::try_from(unit.i_payload).unwrap_or(0);
    let kind = unit.i_type.cast_unsigned();
    (sink.each)(Unit {
        kind,
        data: sink.buffer.get(..length).unwrap_or_default(),
        is_last: matches!(kind, SLICE | IDR) && unit.i_last_mb == sink.last_block,
    });
}

/// The type of a slice of a predicted frame.
const SLICE: c_uint = x264::nal_unit_type_e_NAL_SLICE;
/// The type of a slice of a keyframe.
pub(crate) const IDR: c_uint = x264::nal_unit_type_e_NAL_SLICE_IDR;

/// The type of a NAL unit with supplemental information.
pub(crate) const SEI: c_uint = x264::nal_unit_type_e_NAL_SEI;
/// The type of a sequence parameter set.
pub(crate) const SPS: c_uint = x264::nal_unit_type_e_NAL_SPS;

/// The type of a picture parameter set.
pub(crate) const PPS: c_uint = x264::nal_unit_type_e_NAL_PPS;

/// The type of supplemental information that is nobody's but the user's (H.264, D.1.6).
const UNREGISTERED: c_int = 5;
/// A byte of it.
const BALLAST: u8 = 0xaa;

/// An open encoder.
#[derive(Debug)]
pub(crate) struct Raw {
    x264: &'static Functions,
    encoder: NonNull<x264::x264_t>,
    parameters: Box<x264::x264_param_t>,
    size: Size,
    /// Bytes for a unit of [`PictureTask::ballast`]; what they are does not matter, as long as they are
    /// not zero, which would need bytes more in between.
    ballast: Vec<u8>,
    /// The unit that is written.
    unit: Vec<u8>,
}

// SAFETY: libx264 keeps nothing that belongs to a thread: its functions may be called from
// any thread, one at a time, which `&mut self` ensures. The pointers in `parameters` are
// null, or point to libx264's code or its constants, or to `coded`.
unsafe impl Send for Raw {}

impl Raw {
    /// Opens an encoder of this libx264; returns `None` if it refuses.
    pub(crate) fn open(
        x264: &'static Functions,
        fixed: &FixedSettings,
        tuning: &Tuning,
    ) -> Option<Self> {
        let mut parameters = defaults(x264)?;
        set_fixed(&mut parameters, fixed);
        set_tuning(&mut parameters, tuning);
        // SAFETY: `parameters` is initialised; libx264 copies it.
        let status = unsafe {
            x264.all
                .x264_param_apply_profile(&raw mut *parameters, c"high".as_ptr())
        };
        if status < 0 {
            return None;
        }
        // SAFETY: as above.
        let encoder = unsafe { (x264.open)(&raw mut *parameters) };
        Some(Self {
            x264,
            encoder: NonNull::new(encoder)?,
            parameters,
            size: fixed.size,
            ballast: Vec::new(),
            unit: Vec::new(),
        })
    }

    /// Applies `tuning` to the next frame.
    ///
    /// # Errors
    ///
    /// libx264's negative status.
    pub(crate) fn reconfigure(&mut self, tuning: &Tuning) -> Result<(), c_int> {
        set_tuning(&mut self.parameters, tuning);
        // SAFETY: the encoder is open, and libx264 copies the parameters.
        let status = unsafe {
            let parameters = &raw mut *self.parameters;
            self.x264
                .all
                .x264_encoder_reconfig(self.encoder.as_ptr(), parameters)
        };
        if status < 0 { Err(status) } else { Ok(()) }
    }

    /// Encodes `picture`, and gives each NAL unit of the frame to `each`: as soon as it is coded with one
    /// thread, and when the frame is whole with several.
    ///
    /// # Errors
    ///
    /// libx264's negative status, or zero if there is no frame.
    pub(crate) fn encode(
        &mut self,
        picture: &Picture,
        task: PictureTask,
        each: &mut dyn FnMut(Unit<'_>),
    ) -> Result<FrameFigures, c_int> {
        assert_eq!(picture.size(), self.size, "the size was checked before");
        let mut input = input(self.x264, picture, task);
        let ballast = usize::try_from(task.ballast.get()).unwrap_or(0);
        if ballast > self.ballast.len() {
            self.ballast.resize(ballast, BALLAST);
        }
        let mut unit = x264::x264_sei_payload_t {
            payload_size: c_int::try_from(ballast).unwrap_or(0),
            payload_type: UNREGISTERED,
            payload: self.ballast.as_mut_ptr(),
        };
        if unit.payload_size > 0 {
            input.extra_sei.num_payloads = 1;
            input.extra_sei.payloads = &raw mut unit;
        }
        let blocks = |side: u32| i32::try_from(side.div_ceil(16)).unwrap_or(i32::MAX);
        let mut sink = Sink {
            x264: self.x264,
            buffer: &mut self.unit,
            last_block: blocks(self.size.width()).saturating_mul(blocks(self.size.height())) - 1,
            each,
        };
        input.opaque = (&raw mut sink).cast();
        let mut output = MaybeUninit::<x264::x264_picture_t>::zeroed();
        let mut units: *mut x264::x264_nal_t = std::ptr::null_mut();
        let mut count: c_int = 0;
        // SAFETY: the encoder is open. `input` has three planes of the size it
        // was opened for, which libx264 reads and copies before it returns; so it does with
        // `unit` and its payload, which it frees only if told how. `sink` outlives the call, and
        // only `coded` uses it meanwhile.
        // Every field of `output` may be zero, and libx264 fills it in.
        let (status, output) = unsafe {
            let status = self.x264.all.x264_encoder_encode(
                self.encoder.as_ptr(),
                &raw mut units,
                &raw mut count,
                &raw mut input,
                output.as_mut_ptr(),
            );
            (status, output.assume_init())
        };
        if status <= 0 || units.is_null() {
            return Err(status);
        }
        if self.parameters.nalu_process.is_none() {
            // SAFETY: libx264 made `count` units, valid until the next call to it,
            // which `&mut self` keeps from happening meanwhile.
            let units =
                unsafe { std::slice::from_raw_parts(units, usize::try_from(count).unwrap_or(0)) };
            for unit in units {
                let length = usize::try_from(unit.i_payload).unwrap_or(0);
                // SAFETY: `p_payload` points at `i_payload` bytes, valid as above.
                let data = unsafe { std::slice::from_raw_parts(unit.p_payload, length) };
                (sink.each)(Unit {
                    kind: unit.i_type.cast_unsigned(),
                    data,
                    is_last: false,
                });
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "libx264 widened it from as many bits"
        )]
        let rate_factor = output.prop.f_crf_avg as f32;
        let stride = usize::try_from(output.img.i_stride[0]).unwrap_or(0);
        let decoded =
            NonNull::new(output.img.plane[0]).filter(|_| stride >= picture.stride(Plane::Y));
        // SAFETY: libx264 gives the brightness of the picture that it keeps as a
        // reference, as many rows as were encoded, each of `stride` bytes or more,
        // valid until the next call to it.
        let distortion =
            decoded.map(|decoded| unsafe { mean_squared_error(picture, decoded, stride) });
        Ok(FrameFigures {
            is_keyframe: output.b_keyframe != 0,
            rate_factor,
            distortion,
        })
    }

    /// Forbids libx264 to refer to the frame `pts` or any later one already encoded.
    ///
    /// # Errors
    ///
    /// libx264's negative status.
    pub(crate) fn invalidate(&mut self, pts: i64) -> Result<(), c_int> {
        // SAFETY: the encoder is open, and no call to it is under way.
        let status = unsafe {
            self.x264
                .all
                .x264_encoder_invalidate_reference(self.encoder.as_ptr(), pts)
        };
        if status < 0 { Err(status) } else { Ok(()) }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the encoder is open, and nothing uses it afterwards.
        unsafe { self.x264.all.x264_encoder_close(self.encoder.as_ptr()) }
    }
}

/// The mean squared difference between the brightness of `picture` and of `decoded`.
///
/// # Safety
///
/// `decoded` points at as many rows as `picture` has, `stride` bytes apart, each with as
/// many bytes as a row of `picture`.
unsafe fn mean_squared_error(picture: &Picture, decoded: NonNull<u8>, stride: usize) -> f64 {
    let width = picture.stride(Plane::Y);
    let original = picture.plane(Plane::Y);
    let mut sum = 0_u64;
    for (row, original) in original.chunks_exact(width).enumerate() {
        // SAFETY: the row is there, says the caller.
        let decoded =
            unsafe { std::slice::from_raw_parts(decoded.as_ptr().add(row * stride), width) };
        let squares = original.iter().zip(decoded).map(|(one, other)| {
            let apart = u32::from(one.abs_diff(*other));
            apart * apart
        });
        sum += u64::from(squares.sum::<u32>());
    }
    sum as f64 / original.len().max(1) as f64
}

/// libx264's parameters for a fast encoder without delay.
fn defaults(x264: &Functions) -> Option<Box<x264::x264_param_t>> {
    let mut parameters = Box::<x264::x264_param_t>::new_uninit();
    // SAFETY: libx264 initialises every field, and the names are C strings.
    unsafe {
        let status = x264.all.x264_param_default_preset(
            parameters.as_mut_ptr(),
            c"superfast".as_ptr(),
            c"zerolatency".as_ptr(),
        );
        (status >= 0).then(|| parameters.assume_init())
    }
}

fn set_fixed(parameters: &mut x264::x264_param_t, fixed: &FixedSettings) {
    parameters.i_width = fixed.size.width().cast_signed();
    parameters.i_height = fixed.size.height().cast_signed();
    parameters.i_csp = x264::X264_CSP_I420.cast_signed();
    parameters.i_level_idc = fixed.level;
    parameters.i_threads = fixed.threads;
    parameters.b_sliced_threads = c_int::from(fixed.threads > 1);
    // Several threads would call it at once, and their slices are done together anyway.
    parameters.nalu_process = (fixed.threads == 1).then_some(coded);
    parameters.i_log_level = x264::X264_LOG_NONE;

    parameters.i_fps_num = fixed.frames_per_second;
    parameters.i_fps_den = fixed.slowdown;
    parameters.i_timebase_num = 1;
    parameters.i_timebase_den = fixed.frames_per_second;
    parameters.b_vfr_input = 0;
    // No other switch lets the time base differ from the frame rate.
    parameters.b_pulldown = 1;

    parameters.i_frame_reference = 1;
    parameters.i_dpb_size = fixed.references;
    parameters.i_keyint_max = x264::X264_KEYINT_MAX_INFINITE.cast_signed();
    parameters.i_scenecut_threshold = 0;
    parameters.b_intra_refresh = 0;
    parameters.i_bframe = 0;
    parameters.analyse.i_weighted_pred = x264::X264_WEIGHTP_NONE.cast_signed();
    parameters.analyse.b_transform_8x8 = 1;
    parameters.b_cabac = c_int::from(fixed.is_arithmetic);

    parameters.b_annexb = 1;
    parameters.b_repeat_headers = 1;
    parameters.b_aud = 0;
    let bt709 = 1;
    parameters.vui.i_colorprim = bt709;
    parameters.vui.i_transfer = bt709;
    parameters.vui.i_colmatrix = bt709;
    parameters.vui.b_fullrange = 0;

    parameters.rc.i_rc_method = x264::X264_RC_CRF.cast_signed();
    parameters.rc.f_rf_constant = fixed.finest;
    // With this, the rate factor is a quantiser, whatever the picture.
    parameters.rc.f_qcompress = 1.0;
    parameters.rc.b_mb_tree = 0;
    parameters.rc.i_lookahead = 0;
    parameters.rc.i_qp_step = 51;
    parameters.rc.f_rate_tolerance = fixed.tolerance;
    parameters.rc.f_vbv_buffer_init = fixed.full;
}

fn set_tuning(parameters: &mut x264::x264_param_t, tuning: &Tuning) {
    parameters.rc.i_vbv_max_bitrate = tuning.rate;
    parameters.rc.i_vbv_buffer_size = tuning.buffer;
    parameters.analyse.inter = tuning.inter;
    parameters.analyse.intra = tuning.intra;
    parameters.analyse.i_me_method = tuning.motion;
    parameters.analyse.i_subpel_refine = tuning.refinement;
    parameters.analyse.i_trellis = tuning.trellis;
    parameters.i_slice_count = tuning.slices;
}

/// Describes `picture` to libx264. The compiler does not know that the planes are borrowed:
/// the result must not outlive `picture`, and nobody may write through it.
fn input(x264: &Functions, picture: &Picture, task: PictureTask) -> x264::x264_picture_t {
    let mut input = MaybeUninit::<x264::x264_picture_t>::uninit();
    // SAFETY: libx264 sets every field.
    let mut input = unsafe {
        x264.all.x264_picture_init(input.as_mut_ptr());
        input.assume_init()
    };
    let kind = if task.keyframe {
        x264::X264_TYPE_IDR
    } else {
        x264::X264_TYPE_AUTO
    };
    input.i_type = kind.cast_signed();
    input.i_qpplus1 = c_int::from(task.quantiser) + 1;
    input.i_pts = task.pts;
    input.img.i_csp = x264::X264_CSP_I420.cast_signed();
    input.img.i_plane = 3;
    for (index, plane) in [Plane::Y, Plane::U, Plane::V].into_iter().enumerate() {
        input.img.i_stride[index] = c_int::try_from(picture.stride(plane)).unwrap_or(c_int::MAX);
        input.img.plane[index] = picture.plane(plane).as_ptr().cast_mut();
    }
    input
}
