/** The background colors in `connect.css` on which text or borders have the accent color. */
const LIGHT_GROUNDS = ['#ffffff', '#eef1f6'] as const;
const DARK_GROUNDS = ['#1a202c', '#10141c'] as const;
/** The minimum contrast of text (WCAG 2.2, 1.4.3 AA). Borders and buttons need less, but have the same color. */
const CONTRAST = 4.5;
const STEP = 0.04;

type Rgb = readonly [number, number, number];

/**
 * Returns a style sheet with the color of an application. If text in that color would be hard to read, a darker or
 * lighter shade of it is used, so that no choice of an operator makes a page unreadable.
 *
 * @param color as `#rrggbb`
 */
export function accentStyles(color: string): string {
  const light = shades(parse(color), LIGHT_GROUNDS.map(parse), BLACK);
  const dark = shades(parse(color), DARK_GROUNDS.map(parse), WHITE);
  return `:root {${light}}\n@media (prefers-color-scheme: dark) {\n  :root {${dark}}\n}\n`;
}

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

function shades(color: Rgb, grounds: readonly Rgb[], towards: Rgb): string {
  const accent = readableOn(color, grounds, towards);
  const strong = mix(accent, towards, 0.2);
  const onAccent = [WHITE, BLACK].find(
    (text) => contrast(text, accent) >= CONTRAST && contrast(text, strong) >= CONTRAST,
  );
  return ` --accent: ${format(accent)}; --accent-strong: ${format(strong)}; --on-accent: ${format(onAccent ?? BLACK)}; `;
}

/** Mixes a color with black or white until it has enough contrast on each of the background colors. */
export function readableOn(color: Rgb, grounds: readonly Rgb[], towards: Rgb): Rgb {
  for (let share = 0; share < 1; share += STEP) {
    const shade = mix(color, towards, share);
    if (grounds.every((ground) => contrast(shade, ground) >= CONTRAST)) return shade;
  }
  return towards;
}

/** The contrast of two colors, from 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrast(a: Rgb, b: Rgb): number {
  const [lighter, darker] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(color: Rgb, other: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(color[index] * (1 - share) + other[index] * share);
  return [part(0), part(1), part(2)];
}

export function parse(color: string): Rgb {
  const part = (start: number) => Number.parseInt(color.slice(start, start + 2), 16);
  return [part(1), part(3), part(5)];
}

function format(color: Rgb): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
