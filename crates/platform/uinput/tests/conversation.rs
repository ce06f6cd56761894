//! A gamepad's whole exchange with a kernel that the test plays.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use mimosa_facts::Gamepad;
use mimosa_protocol::input::Rumble;
use mimosa_uinput::layout::{
    EV_FF, EV_UINPUT, EVENT, Event, FF_RUMBLE, Request, UI_FF_ERASE, UI_FF_UPLOAD,
};
use mimosa_uinput::{Kernel, Pad, UinputError};
use mimosa_units::{Time, TimeDelta};

/// Calls that the kernel receives.
#[derive(Clone, Debug, PartialEq)]
enum KernelCall {
    Number(Request, u32),
    Bytes(Request, Vec<u8>),
    Events(Vec<(u16, u16, i32)>),
}

/// A kernel that follows a script.
#[derive(Debug, Default)]
struct Script {
    heard: Vec<KernelCall>,
    /// The events that programs send to the gamepad.
    events: VecDeque<Event>,
    /// The structure that the kernel fills in next.
    fill: Vec<u8>,
    refuses: Option<Request>,
}

#[derive(Clone, Debug, Default)]
struct ScriptedKernel(Rc<RefCell<Script>>);

impl Kernel for ScriptedKernel {
    fn tell(&mut self, request: Request, number: u32) -> io::Result<()> {
        let mut script = self.0.borrow_mut();
        script.heard.push(KernelCall::Number(request, number));
        match script.refuses {
            Some(refused) if refused == request => Err(io::ErrorKind::InvalidInput.into()),
            _ => Ok(()),
        }
    }

    fn exchange(&mut self, request: Request, bytes: &mut [u8]) -> io::Result<()> {
        let mut script = self.0.borrow_mut();
        script
            .heard
            .push(KernelCall::Bytes(request, bytes.to_vec()));
        if matches!(request, Request::BeginUpload | Request::BeginErase) {
            // The kernel finds the request by its number, and stores it.
            let fill = std::mem::take(&mut script.fill);
            bytes[8..8 + fill.len()].copy_from_slice(&fill);
        }
        Ok(())
    }

    fn write(&mut self, events: &[u8]) -> io::Result<()> {
        let (chunks, rest) = events.as_chunks::<EVENT>();
        assert!(rest.is_empty());
        let events = chunks.iter().map(Event::from_bytes);
        let tell = |event: Event| (event.kind, event.code, event.value);
        let heard = KernelCall::Events(events.map(tell).collect());
        self.0.borrow_mut().heard.push(heard);
        Ok(())
    }

    fn read(&mut self, event: &mut [u8; EVENT]) -> io::Result<bool> {
        let Some(next) = self.0.borrow_mut().events.pop_front() else {
            return Ok(false);
        };
        *event = next.to_bytes();
        Ok(true)
    }
}

impl ScriptedKernel {
    fn heard(&self) -> Vec<KernelCall> {
        std::mem::take(&mut self.0.borrow_mut().heard)
    }

    fn send(&self, kind: u16, code: u16, value: i32) {
        let event = Event { kind, code, value };
        self.0.borrow_mut().events.push_back(event);
    }

    /// An `ff_effect` of this kind and number, 200 ms long.
    fn effect(&self, kind: u16, id: i16, strong: u16, weak: u16) {
        let fields = [kind, id.cast_unsigned(), 0, 0, 0, 200, 0, 0, strong, weak];
        self.0.borrow_mut().fill = fields.map(u16::to_ne_bytes).concat();
    }
}

const START: Time = Time::from_secs(1);

#[test]
fn a_gamepad_is_described_then_plugged_in_then_removed() {
    let kernel = ScriptedKernel::default();
    let pad = Pad::create(kernel.clone(), 0).unwrap();
    let heard = kernel.heard();
    let numbers = |wanted: Request| -> Vec<u32> {
        let numbers = heard.iter().filter_map(|heard| match heard {
            KernelCall::Number(request, number) if *request == wanted => Some(*number),
            _ => None,
        });
        numbers.collect()
    };
    assert_eq!(numbers(Request::EventBit), [1, 3, 0x15]);
    assert_eq!(numbers(Request::KeyBit).len(), 11);
    assert_eq!(numbers(Request::EffectBit), [0x50]);
    let structures = heard.iter().filter_map(|heard| match heard {
        KernelCall::Bytes(request, bytes) => Some((*request, bytes.len())),
        _ => None,
    });
    let structures: Vec<_> = structures.collect();
    assert_eq!(structures[..8], [(Request::AxisSetup, 28); 8]);
    assert_eq!(structures[8..], [(Request::Setup, 92)]);
    // Only buttons and axes that are described beforehand exist afterwards.
    assert_eq!(heard.last(), Some(&KernelCall::Number(Request::Create, 0)));
    drop(pad);
    assert_eq!(kernel.heard(), [KernelCall::Number(Request::Destroy, 0)]);
}

#[test]
fn what_the_kernel_refuses_is_named_and_leaves_nothing_behind() {
    let kernel = ScriptedKernel::default();
    kernel.0.borrow_mut().refuses = Some(Request::EffectBit);
    let error = Pad::create(kernel.clone(), 0).unwrap_err();
    let is_named =
        matches!(&error, UinputError::Request { request, .. } if *request == Request::EffectBit);
    assert!(is_named, "{error}");
    let heard = kernel.heard();
    assert!(!heard.contains(&KernelCall::Number(Request::Create, 0)));
}

#[test]
fn states_become_events_and_the_same_one_none() {
    let kernel = ScriptedKernel::default();
    let mut pad = Pad::create(kernel.clone(), 0).unwrap();
    kernel.heard();
    let state = Gamepad {
        is_present: true,
        buttons: 1,
        axes: [0, -32_767, 0, 0],
        ..Gamepad::default()
    };
    pad.set(state).unwrap();
    pad.set(state).unwrap();
    let events = vec![(1, 0x130, 1), (3, 1, -32_767), (0, 0, 0)];
    assert_eq!(kernel.heard(), [KernelCall::Events(events)]);
}

#[test]
fn a_rumble_is_uploaded_played_and_erased() {
    let kernel = ScriptedKernel::default();
    let mut pad = Pad::create(kernel.clone(), 5).unwrap();
    kernel.heard();
    kernel.effect(FF_RUMBLE, 2, 0xffff, 0x4000);
    kernel.send(EV_UINPUT, UI_FF_UPLOAD, 41);
    pad.answer(START).unwrap();
    let [
        KernelCall::Bytes(Request::BeginUpload, begin),
        KernelCall::Bytes(Request::EndUpload, end),
    ] = &kernel.heard()[..]
    else {
        panic!("an upload is taken and answered");
    };
    assert_eq!(begin[..8], [41_i32, 0].map(i32::to_ne_bytes).concat());
    assert_eq!(end[..8], begin[..8], "of this request, and well");
    assert_eq!(end[8..10], FF_RUMBLE.to_ne_bytes(), "as it was filled in");
    assert_eq!(pad.rumble(START), None, "nothing is played");

    kernel.send(EV_FF, 2, 1);
    pad.answer(START).unwrap();
    let rumble = Rumble {
        index: 5,
        strong: 255,
        weak: 64,
        duration: TimeDelta::from_millis(200),
    };
    assert_eq!(pad.rumble(START), Some(rumble));
    assert_eq!(pad.rumble(START), None);
    assert_eq!(pad.deadline(), Some(START + TimeDelta::from_millis(200)));

    kernel.0.borrow_mut().fill = 2_u32.to_ne_bytes().to_vec();
    kernel.send(EV_UINPUT, UI_FF_ERASE, 42);
    let later = START + TimeDelta::from_millis(10);
    pad.answer(later).unwrap();
    let [
        KernelCall::Bytes(Request::BeginErase, begin),
        KernelCall::Bytes(Request::EndErase, end),
    ] = &kernel.heard()[..]
    else {
        panic!("an erasure is taken and answered");
    };
    assert_eq!(begin[..8], [42_i32, 0].map(i32::to_ne_bytes).concat());
    assert_eq!(end[..8], begin[..8]);
    let quiet = Rumble {
        index: 5,
        strong: 0,
        weak: 0,
        duration: TimeDelta::ZERO,
    };
    assert_eq!(pad.rumble(later), Some(quiet));
}

#[test]
fn an_effect_of_another_kind_is_refused() {
    let kernel = ScriptedKernel::default();
    let mut pad = Pad::create(kernel.clone(), 0).unwrap();
    kernel.heard();
    let spring = 0x53;
    kernel.effect(spring, 0, 0xffff, 0xffff);
    kernel.send(EV_UINPUT, UI_FF_UPLOAD, 1);
    kernel.send(EV_FF, 0, 1);
    pad.answer(START).unwrap();
    let heard = kernel.heard();
    let Some(KernelCall::Bytes(Request::EndUpload, end)) = heard.last() else {
        panic!("an upload is answered: {heard:?}");
    };
    assert_eq!(end[4..8], (-22_i32).to_ne_bytes(), "EINVAL");
    assert_eq!(pad.rumble(START), None);
}
