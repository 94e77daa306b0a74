import { expect } from 'chai';
import type { ProviderDefinition } from '../../../core/connectors/provider.ts';
import { isRetryable, kindOfStatus, responseFailure, TOOL_ERROR_KINDS } from '../../../core/tools/outcome.ts';
import { readRateLimit } from '../../../core/tools/rate-limit.ts';
import { NOW, providerOf, toolOf } from './samples.ts';

function failureOf(
  api: ProviderDefinition['api'],
  status: number,
  json?: unknown,
  headers: Record<string, string> = {},
) {
  return responseFailure(toolOf(), providerOf({ api }), { status, headers, json }, NOW);
}

describe('The kind of a failure', () => {
  it('depends on the status', () => {
    const table: [number, string | undefined][] = [
      [200, undefined],
      [204, undefined],
      [302, 'upstream_invalid_response'],
      [400, 'upstream_bad_request'],
      [401, 'upstream_auth'],
      [402, 'upstream_bad_request'],
      [403, 'upstream_forbidden'],
      [404, 'upstream_not_found'],
      [409, 'upstream_conflict'],
      [410, 'upstream_not_found'],
      [412, 'upstream_conflict'],
      [422, 'upstream_bad_request'],
      [429, 'upstream_rate_limited'],
      [500, 'upstream_server_error'],
      [503, 'upstream_server_error'],
    ];
    for (const [status, kind] of table) expect(kindOfStatus(status), String(status)).to.equal(kind);
  });

  it("is read from ok:false in a 200, by the vendor's code", () => {
    const api: ProviderDefinition['api'] = {
      errors: [
        {
          when: { pointer: '/ok', equals: false },
          code: '/error',
          kinds: {
            invalid_auth: 'upstream_auth',
            channel_not_found: 'upstream_not_found',
            ratelimited: 'upstream_rate_limited',
          },
          default: 'upstream_bad_request',
        },
      ],
    };
    expect(failureOf(api, 200, { ok: true, error: 'invalid_auth' })).to.equal(undefined);
    expect(failureOf(api, 200, { ok: false, error: 'invalid_auth' })).to.include({
      kind: 'upstream_auth',
      code: 'invalid_auth',
    });
    expect(failureOf(api, 200, { ok: false, error: 'channel_not_found' })?.kind).to.equal('upstream_not_found');
    expect(failureOf(api, 200, { ok: false, error: 'toString' })?.kind).to.equal('upstream_bad_request');
    expect(failureOf(api, 200, { ok: false })?.kind).to.equal('upstream_bad_request');
    expect(failureOf(api, 500, { ok: true })?.kind).to.equal('upstream_server_error');
  });

  it('is read from GraphQL errors in a 200, also beside data', () => {
    const api: ProviderDefinition['api'] = {
      errors: [
        {
          when: { pointer: '/errors/0', exists: true },
          code: '/errors/0/extensions/code',
          message: '/errors/0/message',
          kinds: { RATELIMITED: 'upstream_rate_limited' },
          default: 'status',
        },
      ],
    };
    expect(failureOf(api, 200, { data: { a: 1 } })).to.equal(undefined);
    expect(failureOf(api, 200, { data: { a: 1 }, errors: [] })).to.equal(undefined);
    expect(failureOf(api, 200, { data: null, errors: [{ message: 'No field' }] })).to.include({
      kind: 'upstream_bad_request',
      message: 'No field',
    });
    expect(failureOf(api, 400, { errors: [{ message: 'Slow', extensions: { code: 'RATELIMITED' } }] })?.kind).to.equal(
      'upstream_rate_limited',
    );
    expect(failureOf(api, 403, { errors: [{ message: 'No' }] })?.kind).to.equal('upstream_forbidden');
  });

  it('uses predicates for certain statuses, and those of the tool first', () => {
    const tool = toolOf({
      errors: [
        {
          when: { pointer: '/code', equals: 7 },
          statuses: [403],
          code: '/code',
          kinds: { 7: 'upstream_rate_limited' },
          default: 'status',
        },
      ],
    });
    const provider = providerOf({
      api: { errors: [{ when: { pointer: '/code', exists: true }, default: 'upstream_conflict' }] },
    });
    const kind = (status: number) =>
      responseFailure(tool, provider, { status, headers: {}, json: { code: 7 } }, NOW)?.kind;
    expect([kind(403), kind(400)]).to.deep.equal(['upstream_rate_limited', 'upstream_conflict']);
  });

  it('is rate_limited for a 403 only when the limit is used up or a wait is requested', () => {
    const api: ProviderDefinition['api'] = {
      rate_limit: {
        remaining_header: 'X-Remaining',
        reset_header: 'X-Reset',
        reset_unit: 'epoch_seconds',
        statuses: [403],
      },
    };
    const reset = String(NOW / 1000 + 30);
    expect(failureOf(api, 403, {}, { 'x-remaining': '5', 'x-reset': reset })?.kind).to.equal('upstream_forbidden');
    const spent = failureOf(api, 403, {}, { 'x-remaining': '0', 'x-reset': reset });
    expect([spent?.kind, spent?.rate.retryAfterMs]).to.deep.equal(['upstream_rate_limited', 30_000]);
    expect(failureOf(api, 403, {}, { 'retry-after': '60' })?.kind).to.equal('upstream_rate_limited');
    expect(failureOf({}, 403, {}, { 'retry-after': '60' })?.kind).to.equal('upstream_forbidden');
  });

  it('states whether a retry can help and cannot have a second effect', () => {
    for (const kind of TOOL_ERROR_KINDS) {
      const transient = ['upstream_server_error', 'upstream_unreachable', 'upstream_timeout', 'service_busy'].includes(
        kind,
      );
      expect(isRetryable(kind, true), kind).to.equal(transient || kind === 'upstream_rate_limited');
      expect(isRetryable(kind, false), kind).to.equal(kind === 'upstream_rate_limited');
    }
  });
});

describe('The time to wait', () => {
  const wait = (
    headers: Record<string, string>,
    reset_unit?: 'epoch_seconds' | 'epoch_milliseconds' | 'seconds' | 'rfc3339' | 'duration',
  ) => readRateLimit(headers, reset_unit && { reset_header: 'X-Reset', reset_unit }, NOW).retryAfterMs;

  it('is Retry-After in seconds or as a date, never negative', () => {
    expect(wait({ 'retry-after': '120' })).to.equal(120_000);
    expect(wait({ 'retry-after': new Date(NOW + 5000).toUTCString() })).to.equal(5000);
    expect(wait({ 'retry-after': new Date(NOW - 5000).toUTCString() })).to.equal(0);
    for (const odd of ['soon', '-1', '', '1e9', 'NaN', '99999999999999999999'])
      expect(wait({ 'retry-after': odd }), odd).to.equal(undefined);
  });

  it("is read from the vendor's header in each unit", () => {
    expect(wait({ 'x-reset': String(NOW / 1000 + 9) }, 'epoch_seconds')).to.equal(9000);
    expect(wait({ 'x-reset': String(NOW + 9) }, 'epoch_milliseconds')).to.equal(9);
    expect(wait({ 'x-reset': '9' }, 'seconds')).to.equal(9000);
    expect(wait({ 'x-reset': '2026-01-02T03:04:14Z' }, 'rfc3339')).to.equal(9000);
    expect(wait({ 'x-reset': '1h6m0.5s' }, 'duration')).to.equal(3_960_500);
    expect(wait({ 'x-reset': '20ms' }, 'duration')).to.equal(20);
    for (const unit of ['epoch_seconds', 'seconds', 'rfc3339', 'duration'] as const)
      expect(wait({ 'x-reset': 'x, y' }, unit), unit).to.equal(undefined);
  });

  it('is Retry-After rather than another header, and is absent while calls remain', () => {
    const names = { remaining_header: 'x-left', reset_header: 'x-reset', reset_unit: 'seconds' as const };
    expect(readRateLimit({ 'retry-after': '1', 'x-left': '0', 'x-reset': '9' }, names, NOW).retryAfterMs).to.equal(
      1000,
    );
    expect(readRateLimit({ 'x-left': '3', 'x-reset': '9' }, names, NOW).retryAfterMs).to.equal(undefined);
  });
});
