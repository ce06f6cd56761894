import { expect, it } from "vitest";
import {
  afterRejection,
  agreedFeedback,
  couldReportMarks,
  isFeedback,
  lacksNews,
} from "./feedback";

const TWCC = "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02";
const OLDER = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";

it("knows the kinds by their names", () => {
  expect(["rfc8888", "twcc-02", "twcc-01", "none"].every(isFeedback)).toBe(true);
  expect(["twcc", "", null, 3].some(isFeedback)).toBe(false);
});

it("reads from an answer what is agreed on", () => {
  const answer = (line: string) =>
    agreedFeedback(`v=0\r\nm=video 9 X 116\r\na=mid:0\r\n${line}\r\n`);
  expect(answer("a=rtcp-fb:* ack ccfb")).toBe("rfc8888");
  expect(answer(`a=extmap:14 ${TWCC}\r\na=rtcp-fb:* ack ccfb`)).toBe("rfc8888");
  expect(answer(`a=extmap:14 ${TWCC}`)).toBe("twcc-02");
  expect(answer(`a=extmap:4 ${OLDER}`)).toBe("twcc-01");
  expect(answer("a=rtcp-fb:116 nack")).toBe("none");
  expect(answer("a=rtcp-fb:116 ack ccfbx")).toBe("none");
});

it("tells of decoded frames where reports may not", () => {
  expect(lacksNews("twcc-02")).toBe(false);
  expect([lacksNews("rfc8888"), lacksNews("twcc-01"), lacksNews("none")]).toEqual([
    true,
    true,
    true,
  ]);
});

it("goes on with version 01 where an answer is not taken, once", () => {
  expect(afterRejection("rfc8888")).toBe("twcc-01");
  expect(afterRejection("twcc-02")).toBe("twcc-01");
  expect(afterRejection("twcc-01")).toBeUndefined();
  expect(afterRejection("none")).toBeUndefined();
});

it("hints at the field trial where it would help", () => {
  const chromium =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36";
  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0";
  expect(couldReportMarks(chromium, undefined)).toBe(true);
  expect(couldReportMarks(chromium, "twcc-02")).toBe(true);
  expect(couldReportMarks(chromium, "rfc8888")).toBe(false);
  expect(couldReportMarks(firefox, "twcc-01")).toBe(false);
});
