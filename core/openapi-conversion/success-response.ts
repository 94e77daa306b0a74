import { isRecord } from '../tools/pointer.ts';
import type { Operation } from './operations.ts';
import type { Resolver } from './resolve.ts';

/** A successful response, as the document describes it. */
export interface SuccessResponse {
  /** The schema of its JSON; undefined if there is none. */
  schema: unknown;
  /** Names of its headers, in lower case. */
  headers: ReadonlySet<string>;
}

/** Returns the first successful response (by status) with a JSON schema, otherwise the first successful response. */
export function successResponseOf({ data }: Operation, resolve: Resolver): SuccessResponse {
  const responses = isRecord(data['responses']) ? data['responses'] : {};
  const successes = Object.keys(responses)
    .filter((status) => /^2(\d\d|xx)$/i.test(status))
    .sort()
    .map((status) => resolve(responses[status]))
    .filter((response) => response !== undefined);
  for (const response of successes) {
    const content = isRecord(response['content']) ? response['content'] : {};
    const key = Object.keys(content).find((type) => /[/+]json\b|^\*\/\*$/i.test(type));
    const schema = key === undefined ? undefined : resolve(content[key])?.['schema'];
    if (schema !== undefined) return { schema, headers: headersOf(response) };
  }
  return { schema: undefined, headers: headersOf(successes[0] ?? {}) };
}

function headersOf(response: Record<string, unknown>): ReadonlySet<string> {
  return new Set(
    Object.keys(isRecord(response['headers']) ? response['headers'] : {}).map((name) => name.toLowerCase()),
  );
}
