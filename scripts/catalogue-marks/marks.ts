import { readFileSync } from 'node:fs';
import type { Mark } from '../../core/connectors/mark.ts';
import { contrast, parse } from '../../web/connect/accent.ts';

export const MARKS = new URL('../../catalogue/generated/marks.json', import.meta.url);

/** An icon of simple-icons; its license covers the drawing, and `guidelines` says how the brand may be used. */
export interface Icon {
  title: string;
  /** As `#rrggbb`. */
  color: string;
  /** The data of one path in a square of 24 units. */
  path: string;
  guidelines?: string;
}

/**
 * How a connector file names its mark: an icon, or a brand color with its own drawing or the first letter of its name.
 */
export type MarkSource = { icon: string } | { color: string; path?: string };

/**
 * The minimum contrast of a white drawing on a brand color; on lighter colors the drawing is black. Icons need less
 * contrast than text.
 */
const WHITE_CONTRAST = 2.2;

/** Reads the icons that `make catalogue-marks` has copied. */
export function readIcons(): Readonly<Record<string, Icon>> {
  return JSON.parse(readFileSync(MARKS, 'utf8')) as Record<string, Icon>;
}

/** Returns the mark as the server draws it; undefined if there is no such icon. */
export function resolveMark(source: MarkSource, icons: Readonly<Record<string, Icon>>): Mark | undefined {
  const found = 'icon' in source ? icons[source.icon] : source;
  if (!found) return undefined;
  const { color, path } = found;
  const ink = contrast([255, 255, 255], parse(color)) >= WHITE_CONTRAST ? '#ffffff' : '#000000';
  return { color, ink, ...(path !== undefined && { path }) };
}
