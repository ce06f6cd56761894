// Requests as nobody's browser makes them: with any header.

import { type IncomingHttpHeaders, request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The code of the answer's problem, if it is one. */
  readonly code: string | undefined;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function ask(url: string, asked: Asked = {}): Promise<Answer> {
  const { method = "GET", headers = {}, body } = asked;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (data) => {
        text += data;
      });
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text, code: problemCode(text) });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function problemCode(text: string): string | undefined {
  try {
    return JSON.parse(text).error;
  } catch {
    return undefined;
  }
}
