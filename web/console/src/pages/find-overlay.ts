import { api, type Schemas, take } from '../api.ts';

type Overlay = Schemas['ToolOverlay'];

const PAGE_SIZE = 100;

export async function loadOverlays(token: string | undefined) {
  const query = { page_size: PAGE_SIZE, ...(token !== undefined && { page_token: token }) };
  const page = await take(api.GET('/api/v1/tool_overlays', { params: { query } }));
  return { rows: page.overlays, next: page.next_page_token, total: page.total_size };
}

/** Returns the first overlay that meets a condition; null if none does. An environment has at most a few hundred. */
export async function findOverlay(isMeant: (overlay: Overlay) => boolean): Promise<Overlay | null> {
  let token: string | undefined;
  do {
    const { rows, next } = await loadOverlays(token);
    const found = rows.find(isMeant);
    if (found) return found;
    token = next || undefined;
  } while (token !== undefined);
  return null;
}
