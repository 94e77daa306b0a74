import { isRecord } from '../tools/pointer.ts';
import type { ToolHints } from '../tools/tool.ts';

/**
 * Returns the hints of a tool by its HTTP method (RFC 9110 §9.2): GET and HEAD only read; PUT and DELETE can be
 * repeated, and may overwrite or delete data; POST and PATCH have no guarantees. Every hint is set, because protocols
 * have different defaults. An overlay can replace them, but a read-only tool is never destructive and always
 * idempotent.
 *
 * @param overlay `x-tool.hints`
 */
export function hintsOf(method: string, overlay: unknown): ToolHints {
  const reads = method === 'GET' || method === 'HEAD';
  const repeats = reads || method === 'PUT' || method === 'DELETE';
  const overridden = isRecord(overlay) ? overlay : {};
  const stated = (key: keyof ToolHints, fallback: boolean): boolean =>
    typeof overridden[key] === 'boolean' ? overridden[key] : fallback;
  const readOnly = stated('read_only', reads);
  const hints = {
    read_only: readOnly,
    destructive: !readOnly && stated('destructive', method === 'PUT' || method === 'DELETE'),
    idempotent: readOnly || stated('idempotent', repeats),
    // By default, a tool is assumed to reach systems of other parties; only an overlay can say otherwise.
    open_world: stated('open_world', true),
  };
  return Object.keys(overridden).length === 0 ? hints : { ...hints, reason: 'Set by an overlay of the import.' };
}
