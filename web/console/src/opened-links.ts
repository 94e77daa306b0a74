/** The user for whom this browser has opened a link. */
export interface OpenedLink {
  identifier: string;
  id?: string | undefined;
  user_id?: string | undefined;
}

const PREFIX = 'valetkey-link-';
/** No link is open for longer than this, in milliseconds. */
const KEPT_MS = 24 * 3_600_000;

/** Stores for whom this browser opens a link, by the `state` of the link. */
export function rememberLink(state: string, opened: OpenedLink): void {
  forgetLinks(Date.now() - KEPT_MS);
  localStorage.setItem(PREFIX + state, JSON.stringify({ ...opened, openedAt: Date.now() }));
}

/**
 * Returns the user for whom this browser has opened a link, and removes the stored entry, so that a link is completed
 * only once. Returns undefined for an unknown `state`.
 */
export function takeLink(state: string): OpenedLink | undefined {
  const text = localStorage.getItem(PREFIX + state);
  localStorage.removeItem(PREFIX + state);
  return text === null ? undefined : (JSON.parse(text) as OpenedLink);
}

/** Removes the entries of links that were opened before this time, and from which the browser never returned. */
export function forgetLinks(before = Number.POSITIVE_INFINITY): void {
  for (const name of Object.keys(localStorage).filter((each) => each.startsWith(PREFIX))) {
    const { openedAt = 0 } = JSON.parse(localStorage.getItem(name) ?? '{}') as { openedAt?: number };
    if (openedAt < before) localStorage.removeItem(name);
  }
}
