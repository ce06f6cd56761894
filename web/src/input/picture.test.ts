import { describe, expect, it } from "vitest";
import { pictureArea, placeIn } from "./picture";

const WIDE = { width: 1280, height: 720 };

describe("pictureArea", () => {
  it("leaves bars above and below in a tall element", () => {
    const area = pictureArea({ x: 0, y: 0, width: 360, height: 640 }, WIDE);
    expect(area).toEqual({ x: 0, y: 218.75, width: 360, height: 202.5 });
  });

  it("leaves bars at the sides of a wide element, and minds where it begins", () => {
    const area = pictureArea({ x: 100, y: 50, width: 2000, height: 720 }, WIDE);
    expect(area).toEqual({ x: 460, y: 50, width: 1280, height: 720 });
  });

  it("takes the whole element while the picture's size is not known", () => {
    const element = { x: 1, y: 2, width: 3, height: 4 };
    expect(pictureArea(element, { width: 0, height: 0 })).toEqual(element);
  });
});

describe("placeIn", () => {
  const area = { x: 460, y: 50, width: 1280, height: 720 };

  it("maps the picture's corners to the ends", () => {
    expect(placeIn(area, 460, 50)).toEqual({ x: 0, y: 0, inside: true });
    expect(placeIn(area, 1740, 770)).toEqual({ x: 65535, y: 65535, inside: true });
    expect(placeIn(area, 1100, 410)).toEqual({ x: 32768, y: 32768, inside: true });
  });

  it("holds points beside the picture at its edge and says so", () => {
    expect(placeIn(area, 10, 410)).toEqual({ x: 0, y: 32768, inside: false });
    expect(placeIn(area, 1100, 5000)).toEqual({ x: 32768, y: 65535, inside: false });
  });
});
