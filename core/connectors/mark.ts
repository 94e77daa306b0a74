import { createHash } from 'node:crypto';

/** The mark of a connector: a drawing in one color on a tile of the brand's color. */
export interface Mark {
  /** The color of the tile, as `#rrggbb`. */
  color: string;
  /** The color of the drawing, as `#rrggbb`. */
  ink: string;
  /** The data of a path in a square of 24 units; without it, the first letter of the connector's name is drawn. */
  path?: string;
}

/** A mark as it is served. */
export interface MarkImage {
  svg: string;
  /** The path of its address, which changes with the image. */
  path: string;
}

const images = new WeakMap<Mark, MarkImage>();

/** Returns the image of a mark: an SVG without scripts, styles and references. */
export function markImage(identifier: string, displayName: string, mark: Mark): MarkImage {
  const known = images.get(mark);
  if (known) return known;
  const svg = draw(displayName, mark);
  const version = createHash('sha256').update(svg).digest('base64url').slice(0, 10);
  const image = { svg, path: `/icons/${identifier}.svg?v=${version}` };
  images.set(mark, image);
  return image;
}

function draw(displayName: string, { color, ink, path }: Mark): string {
  const tile = `<rect width="48" height="48" rx="10" fill="${color}"/>`;
  const drawing =
    path === undefined
      ? `<text x="24" y="33" text-anchor="middle" font-family="system-ui, sans-serif" font-size="26" font-weight="700" fill="${ink}">${letterOf(displayName)}</text>`
      : `<path transform="translate(10 10) scale(1.16667)" fill="${ink}" d="${path}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="48" height="48">${tile}${drawing}</svg>\n`;
}

/** The first letter or digit of a name; anything else could be markup. */
function letterOf(name: string): string {
  return /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '';
}
