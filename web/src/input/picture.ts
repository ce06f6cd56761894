// Where the picture lies inside its element: `object-fit: contain` leaves bars
// at two sides when the shapes differ.

import type { Position } from "./encode";

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Placed extends Position {
  /** Whether the point was on the picture, not on a bar beside it. */
  readonly inside: boolean;
}

const END = 65535;

/** The part of `element` that a picture of the size `picture` covers. */
export function pictureArea(element: Rectangle, picture: Size): Rectangle {
  if (picture.width <= 0 || picture.height <= 0) {
    return element;
  }
  const scale = Math.min(element.width / picture.width, element.height / picture.height);
  const width = picture.width * scale;
  const height = picture.height * scale;
  return {
    x: element.x + (element.width - width) / 2,
    y: element.y + (element.height - height) / 2,
    width,
    height,
  };
}

/** A point of the page as a place in the picture, held within its edges. */
export function placeIn(area: Rectangle, x: number, y: number): Placed {
  const right = area.width > 0 ? (x - area.x) / area.width : 0;
  const down = area.height > 0 ? (y - area.y) / area.height : 0;
  return {
    x: Math.round(Math.min(1, Math.max(0, right)) * END),
    y: Math.round(Math.min(1, Math.max(0, down)) * END),
    inside: right >= 0 && right <= 1 && down >= 0 && down <= 1,
  };
}
