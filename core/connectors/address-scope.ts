import { mayContainDotSegment } from '../tools/path-segment.ts';

/** `v2`, `v1.1`, `3.0`, `2026-10`: a path segment that is an API version, and not a customer on a shared host. */
const VERSION = /^(v\d{1,3}(\.\d{1,3})?|\d{1,3}\.\d{1,3}|\d{4}-\d{2}(-\d{2})?)$/;

const PLACE = /\{\{([^{}]*)\}\}/g;

/**
 * Whether an address is equal to `bound` or below it: it has the same scheme, host and port, and its path begins with
 * the same segments. A path that some servers resolve upwards, such as `/ada/..;/eve`, is never below another address.
 *
 * @param address without query and fragment, as the URL parser writes it
 * @param bound in the same form
 * @param template the address before account values were filled in. If a segment of it is a fixed version such as `v2`,
 * the version may differ, because only the author of a provider can change it. Without a template, every segment must
 * be equal.
 */
export function isAtOrBelow(address: string, bound: string, template?: string): boolean {
  if (address === bound) return true;
  if (mayContainDotSegment(address)) return false;
  const [own, limit, written] = [address, bound, template ?? ''].map(segmentsOf) as [string[], string[], string[]];
  return limit.every((segment, index) => {
    const other = own[index];
    if (other === segment) return true;
    // The first three segments are the scheme, an empty one, and the host with its port.
    const isWritten = index > 2 && other !== undefined && written[index] === other;
    return isWritten && VERSION.test(other) && VERSION.test(segment);
  });
}

/**
 * Returns the directory of a provider's address, with its placeholders replaced by names, so that two directories can
 * be compared: `https://{{site}}.a.example/oauth/token` → `https://place-site.a.example/oauth`.
 *
 * @param template an address that may contain `{{name}}` placeholders, parsed as a URL: dot segments are resolved
 */
export function directoryOf(template: string): string {
  const { origin, pathname } = parsed(template);
  return origin + pathname.replace(/\/[^/]*$/, '');
}

/** Returns an address with placeholders replaced as in `directoryOf`, without query, fragment and trailing slash. */
export function plainAddress(template: string): string {
  const { origin, pathname } = parsed(template);
  return origin + pathname.replace(/\/$/, '');
}

/** Returns the origin of an address with placeholders replaced as in `directoryOf`. */
export function plainOrigin(template: string): string {
  return parsed(template).origin;
}

function parsed(template: string): URL {
  return new URL(template.replaceAll(PLACE, (_place, name: string) => `place-${name.replaceAll('_', '-')}`));
}

function segmentsOf(address: string): string[] {
  return address.replace(/\/+$/, '').split('/');
}
