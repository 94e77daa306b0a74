import type { ExpiryUnit, TokenResponseShape } from '../connectors/oauth-deviations.ts';
import { atPointer, isRecord } from '../tools/pointer.ts';
import { failureIn } from './json-response.ts';

/** How the responses of a token endpoint differ from the standard. */
export interface ResponseShape extends TokenResponseShape {
  /** Whether the access token also serves as the refresh token. */
  renewedByAccessToken?: boolean;
}

type Body = Record<string, unknown>;

/** Error codes contain no spaces, so this text cannot match a code. */
const NO_CODE = 'no code';
const MS_PER_UNIT: Readonly<Record<ExpiryUnit, number>> = {
  seconds: 1000,
  milliseconds: 1,
  epoch_seconds: 1000,
  epoch_milliseconds: 1,
  rfc3339: 1,
};

/**
 * Converts a response of a token endpoint to the standard format (RFC 6749 §5), so that one parser is enough.
 *
 * @param requestedAt milliseconds UTC; an expiry that is a point in time is converted to a lifetime from then
 */
export function toStandardResponse(body: Body, shape: ResponseShape, requestedAt: number): Body {
  const failure = failureIn(body, shape.errors);
  if (failure !== undefined) return { error: failure === '' ? NO_CODE : failure };
  const found = renamed(container(body, shape), shape.names ?? {});
  const life = lifeOf(found['expires_in'], shape.expires_in_unit ?? 'seconds', requestedAt);
  return {
    ...found,
    expires_in: life ?? shape.default_life_s,
    ...(shape.renewedByAccessToken && { refresh_token: found['access_token'] }),
  };
}

/** Returns the first part of the body, at the pointers in `at`, that contains an access token; otherwise the body. */
function container(body: Body, { at = [''], names = {} }: ResponseShape): Body {
  const member = names['access_token'] ?? 'access_token';
  const parts = at.map((pointer) => atPointer(body, pointer)).filter((part) => isRecord(part));
  return parts.find((part) => typeof part[member] === 'string' && part[member] !== '') ?? body;
}

function renamed(body: Body, names: Readonly<Record<string, string>>): Body {
  const standard = Object.entries(names).map(([name, own]) => [name, Object.hasOwn(body, own) ? body[own] : undefined]);
  return { ...body, ...Object.fromEntries(standard) };
}

/** Returns the lifetime in seconds; undefined if the value is not a valid time. */
function lifeOf(value: unknown, unit: ExpiryUnit, requestedAt: number): number | undefined {
  const number = typeof value === 'string' ? numberIn(value, unit) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  const ms = number * MS_PER_UNIT[unit] - (unit.startsWith('epoch') || unit === 'rfc3339' ? requestedAt : 0);
  return ms > 0 ? ms / 1000 : undefined;
}

function numberIn(text: string, unit: ExpiryUnit): number | undefined {
  if (unit === 'rfc3339') return Date.parse(text);
  return /^\d{1,15}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : undefined;
}
