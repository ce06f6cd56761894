import { describe, expect, test } from "vitest";
import { toToml } from "./scenario";
import { DEFAULTS, fromFragment, keys, options, RANGES, toFragment } from "./settings";

const CHOICES = { controllers: ["gcc", "mimosa", "scream"], tcp: ["cubic", "reno"] };

describe("the fragment of a link", () => {
  test("comes back as it was, and is empty for what needs none", () => {
    expect(toFragment({ settings: DEFAULTS, text: undefined })).toBe("");
    expect(fromFragment("", CHOICES)).toEqual({ settings: DEFAULTS, text: undefined });
    const settings = { ...DEFAULTS, rate: 7, jitter: 2.5, second: "", hop: "ac", seed: 42 };
    const fragment = toFragment({ settings, text: undefined });
    expect(fragment).toBe("second=&rate=7&jitter=2.5&hop=ac&seed=42");
    expect(fromFragment(`#${fragment}`, CHOICES).settings).toEqual(settings);
  });

  test("holds any text", () => {
    const text = '# ä & b = "c"\n\t+%20\n';
    const fragment = toFragment({ settings: DEFAULTS, text });
    expect(fromFragment(`#${fragment}`, CHOICES).text).toBe(text);
  });

  test("means nothing where it is wrong, and at most the bounds", () => {
    const said = "rate=x&rtt=&buffer=1e9&seed=-4&controller=nobody&hop=string&else=1";
    const { settings } = fromFragment(said, CHOICES);
    expect(settings).toEqual({ ...DEFAULTS, buffer: 1000, seed: 1 });
  });
});

describe("settings", () => {
  test("each is a slider or a list, and begins with what it offers", () => {
    for (const key of keys()) {
      const [range, value] = [RANGES[key], DEFAULTS[key]];
      if (range) {
        expect(value, key).toBeGreaterThanOrEqual(range.least);
        expect(value, key).toBeLessThanOrEqual(range.most);
      } else {
        const offered = options(key, CHOICES).map(([value]) => value);
        expect(offered, key).toContain(value);
      }
    }
  });

  test("what is off is not in the scenario", () => {
    const bare = toToml({ ...DEFAULTS, second: "", middle: 100 });
    expect(bare).toContain('rate = "20Mbit/s"');
    expect(bare).not.toMatch(/jitter|loss|next|tcp|variant|ecn|steps/);
  });

  test("a second controller is another run, or another flow", () => {
    const alone = toToml(DEFAULTS);
    expect(alone.match(/\[\[flow\]\]/g)).toHaveLength(1);
    expect(alone.match(/\[\[variant\]\]/g)).toHaveLength(2);
    const beside = toToml({ ...DEFAULTS, place: "beside" });
    expect(beside.match(/\[\[flow\]\]/g)).toHaveLength(2);
    expect(beside).not.toContain("variant");
    // The same one twice has the same figures.
    expect(toToml({ ...DEFAULTS, second: "mimosa" })).not.toContain("variant");
  });

  test("room in packets is that of the time", () => {
    const of = (queue: string) => toToml({ ...DEFAULTS, queue, rate: 12, buffer: 100 });
    expect(of("droptail")).toContain('limit = "100ms"');
    expect(of("codel")).toContain('limit = "100packets"');
    expect(of("dualpi2")).toContain('limit = "150000B"');
  });
});
