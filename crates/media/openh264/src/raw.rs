//! A safe interface to OpenH264's functions.
//!
//! Callers pass plain numbers; OpenH264's own structures, which hold pointers, stay in this
//! file. The encoder is opened with two temporal layers: nothing refers to the first
//! picture after a keyframe, nor to every other picture after that, and a decoder that
//! never gets them misses nothing, not even a frame number.

#![expect(unsafe_code, reason = "calls into C++")]

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use mimosa_video::{Picture, Plane, Size};
use openh264_sys2 as openh264;
use openh264_sys2::API;

/// The difference by which OpenH264 lowers the quantiser of pictures that others refer to.
const FINER: c_int = 3;

/// The settings that never change after the encoder is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedSettings {
    pub(crate) size: Size,
    pub(crate) threads: u8,
    /// Ten times the level of H.264.
    pub(crate) level: c_int,
    /// The lowest quantiser that will be used; OpenH264 makes its buffers for it.
    pub(crate) finest: u8,
}

/// The kind of frame that a picture became.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FrameKind {
    /// A keyframe.
    Keyframe,
    /// A frame that refers to the last one that can be referred to.
    Other,
}

/// The library's version, e.g. `2.7.0`.
pub(crate) fn version() -> String {
    // SAFETY: it takes nothing and returns a structure of numbers.
    let version = unsafe { openh264::DynamicAPI::from_source().WelsGetCodecVersion() };
    let (major, minor, revision) = (version.uMajor, version.uMinor, version.uRevision);
    format!("{major}.{minor}.{revision}")
}

/// An open encoder.
#[derive(Debug)]
pub(crate) struct Raw {
    encoder: NonNull<openh264::ISVCEncoder>,
    parameters: Box<openh264::SEncParamExt>,
    output: Box<openh264::SFrameBSInfo>,
    size: Size,
}

// SAFETY: OpenH264 keeps nothing that belongs to a thread: its functions may be called from
// any thread, one at a time, which `&mut self` ensures. The pointers in `output` are only
// followed while they are valid, and `parameters` holds no pointers.
unsafe impl Send for Raw {}

impl Raw {
    /// Opens an encoder.
    ///
    /// # Errors
    ///
    /// OpenH264's status, or -1 if it has none.
    pub(crate) fn open(fixed: &FixedSettings) -> Result<Self, c_int> {
        let mut encoder: *mut openh264::ISVCEncoder = std::ptr::null_mut();
        // SAFETY: the pointer is written to, and read when the call succeeds.
        let status =
            unsafe { openh264::DynamicAPI::from_source().WelsCreateSVCEncoder(&raw mut encoder) };
        succeeded(status)?;
        let mut raw = Self {
            encoder: NonNull::new(encoder).ok_or(-1)?,
            parameters: Box::default(),
            output: Box::default(),
            size: fixed.size,
        };
        raw.set(
            openh264::ENCODER_OPTION_TRACE_LEVEL,
            openh264::WELS_LOG_QUIET,
        )?;
        let get_default_params = raw.functions().GetDefaultParams.ok_or(-1)?;
        // SAFETY: the encoder exists, and every field of the structure is set.
        succeeded(unsafe { get_default_params(encoder, &raw mut *raw.parameters) })?;
        set_fixed(&mut raw.parameters, fixed);
        let initialize = raw.functions().InitializeExt.ok_or(-1)?;
        // SAFETY: as above; OpenH264 copies the parameters.
        succeeded(unsafe { initialize(encoder, &raw const *raw.parameters) })?;
        raw.set(
            openh264::ENCODER_OPTION_DATAFORMAT,
            openh264::videoFormatI420,
        )?;
        Ok(raw)
    }

    /// Sets the quantiser of the next picture, 1 to 51, and whether the picture `counts` or
    /// is one that nothing refers to.
    ///
    /// # Errors
    ///
    /// OpenH264's status.
    pub(crate) fn set_quantiser(&mut self, quantiser: u8, counts: bool) -> Result<(), c_int> {
        let raised = if counts { FINER } else { 0 };
        let [layer, ..] = &mut self.parameters.sSpatialLayers;
        layer.iDLayerQp = c_int::from(quantiser) + raised;
        let set_option = self.functions().SetOption.ok_or(-1)?;
        // SAFETY: the encoder is open, and for this option takes the parameters,
        // which it copies.
        succeeded(unsafe {
            set_option(
                self.encoder.as_ptr(),
                openh264::ENCODER_OPTION_SVC_ENCODE_PARAM_EXT,
                (&raw mut *self.parameters).cast(),
            )
        })
    }

    /// Makes the next picture a keyframe.
    ///
    /// # Errors
    ///
    /// OpenH264's status.
    pub(crate) fn force_keyframe(&mut self) -> Result<(), c_int> {
        let force = self.functions().ForceIntraFrame.ok_or(-1)?;
        // SAFETY: the encoder is open.
        succeeded(unsafe { force(self.encoder.as_ptr(), true) })
    }

    /// Encodes `picture`, and appends the frame to `data`.
    ///
    /// # Errors
    ///
    /// OpenH264's status, or -1 if there is no frame.
    pub(crate) fn encode(
        &mut self,
        picture: &Picture,
        data: &mut Vec<u8>,
    ) -> Result<FrameKind, c_int> {
        assert_eq!(picture.size(), self.size, "the size was checked before");
        let input = input(picture);
        let encode_frame = self.functions().EncodeFrame.ok_or(-1)?;
        // SAFETY: the encoder is open. `input` has three planes of the size it was
        // opened for, which OpenH264 reads and copies before it returns.
        let status = unsafe {
            encode_frame(
                self.encoder.as_ptr(),
                &raw const input,
                &raw mut *self.output,
            )
        };
        succeeded(status)?;
        let kind = match self.output.eFrameType {
            openh264::videoFrameTypeIDR => FrameKind::Keyframe,
            openh264::videoFrameTypeP => FrameKind::Other,
            _ => return Err(-1),
        };
        let layers = usize::try_from(self.output.iLayerNum).unwrap_or(0);
        for layer in self.output.sLayerInfo.iter().take(layers) {
            let units = usize::try_from(layer.iNalCount).unwrap_or(0);
            if units == 0 || layer.pNalLengthInByte.is_null() || layer.pBsBuf.is_null() {
                continue;
            }
            // SAFETY: OpenH264 has `units` lengths there, valid until the next call
            // to it, which `&mut self` keeps from happening meanwhile.
            let lengths = unsafe { std::slice::from_raw_parts(layer.pNalLengthInByte, units) };
            let length = lengths
                .iter()
                .filter_map(|&length| usize::try_from(length).ok())
                .sum();
            // SAFETY: the units stand there one after the other, valid as above.
            data.extend_from_slice(unsafe { std::slice::from_raw_parts(layer.pBsBuf, length) });
        }
        Ok(kind)
    }

    /// Sets an option whose value is a number.
    fn set(&mut self, option: openh264::ENCODER_OPTION, mut value: c_int) -> Result<(), c_int> {
        let set_option = self.functions().SetOption.ok_or(-1)?;
        let value: *mut c_void = (&raw mut value).cast();
        // SAFETY: the encoder exists, and for these options reads one number.
        succeeded(unsafe { set_option(self.encoder.as_ptr(), option, value) })
    }

    /// The table of the encoder's functions.
    fn functions(&self) -> &openh264::ISVCEncoderVtbl {
        // SAFETY: the encoder points at its table, which lives as long as it does.
        unsafe { &**self.encoder.as_ref() }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(uninitialize) = self.functions().Uninitialize {
            // SAFETY: the encoder exists; closing an encoder that was not opened has no
            // effect.
            unsafe { uninitialize(self.encoder.as_ptr()) };
        }
        // SAFETY: nothing uses it afterwards.
        unsafe { openh264::DynamicAPI::from_source().WelsDestroySVCEncoder(self.encoder.as_ptr()) }
    }
}

fn succeeded(status: c_int) -> Result<(), c_int> {
    if status == 0 { Ok(()) } else { Err(status) }
}

fn set_fixed(parameters: &mut openh264::SEncParamExt, fixed: &FixedSettings) {
    /// The highest frame rate that OpenH264 takes. It has no effect without rate control.
    const FRAMES_PER_SECOND: f32 = 60.0;
    /// A bitrate that OpenH264 takes. It has no effect without rate control.
    const BITRATE: c_int = 50_000_000;
    let (width, height) = (
        fixed.size.width().cast_signed(),
        fixed.size.height().cast_signed(),
    );
    parameters.iUsageType = openh264::CAMERA_VIDEO_REAL_TIME;
    parameters.iPicWidth = width;
    parameters.iPicHeight = height;
    parameters.fMaxFrameRate = FRAMES_PER_SECOND;
    parameters.iTargetBitrate = BITRATE;
    parameters.iRCMode = openh264::RC_OFF_MODE;
    parameters.bEnableFrameSkip = false;
    parameters.iTemporalLayerNum = 2;
    parameters.iSpatialLayerNum = 1;
    parameters.uiIntraPeriod = 0;
    parameters.iEntropyCodingModeFlag = 1;
    parameters.eSpsPpsIdStrategy = openh264::CONSTANT_ID;
    parameters.iMultipleThreadIdc = u16::from(fixed.threads);
    // Without this, the same pictures would give different streams.
    parameters.bUseLoadBalancing = false;
    // Each of these would change what a quantiser means, or make keyframes unasked.
    parameters.bEnableDenoise = false;
    parameters.bEnableBackgroundDetection = false;
    parameters.bEnableAdaptiveQuant = false;
    parameters.bEnableSceneChangeDetect = false;
    parameters.bEnableLongTermReference = false;

    let [layer, ..] = &mut parameters.sSpatialLayers;
    layer.iVideoWidth = width;
    layer.iVideoHeight = height;
    layer.iDLayerQp = c_int::from(fixed.finest);
    layer.fFrameRate = FRAMES_PER_SECOND;
    layer.iSpatialBitrate = BITRATE;
    layer.uiProfileIdc = openh264::PRO_MAIN;
    layer.uiLevelIdc = fixed.level;
    if fixed.threads > 1 {
        layer.sSliceArgument.uiSliceMode = openh264::SM_FIXEDSLCNUM_SLICE;
        layer.sSliceArgument.uiSliceNum = u32::from(fixed.threads);
    } else {
        layer.sSliceArgument.uiSliceMode = openh264::SM_SINGLE_SLICE;
    }
    layer.bVideoSignalTypePresent = true;
    layer.uiVideoFormat = narrow(openh264::VF_UNDEF);
    layer.bFullRange = false;
    layer.bColorDescriptionPresent = true;
    layer.uiColorPrimaries = narrow(openh264::CP_BT709);
    layer.uiTransferCharacteristics = narrow(openh264::TRC_BT709);
    layer.uiColorMatrix = narrow(openh264::CM_BT709);
}

/// Narrows a constant to the type of its field.
fn narrow(constant: c_int) -> u8 {
    u8::try_from(constant).unwrap_or_default()
}

/// Describes `picture` to OpenH264. The compiler does not know that the planes are
/// borrowed: the result must not outlive `picture`, and nobody may write through it.
fn input(picture: &Picture) -> openh264::SSourcePicture {
    let mut input = openh264::SSourcePicture {
        iColorFormat: openh264::videoFormatI420,
        iPicWidth: picture.size().width().cast_signed(),
        iPicHeight: picture.size().height().cast_signed(),
        ..openh264::SSourcePicture::default()
    };
    for (index, plane) in [Plane::Y, Plane::U, Plane::V].into_iter().enumerate() {
        input.iStride[index] = c_int::try_from(picture.stride(plane)).unwrap_or(c_int::MAX);
        input.pData[index] = picture.plane(plane).as_ptr().cast_mut();
    }
    input
}
