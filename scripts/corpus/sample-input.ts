import { isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';

/**
 * Texts that an encoder must handle correctly. They contain no percent sign and no comma, which the renderer that calls
 * are compared with interprets itself.
 */
const TEXTS = ['plain', 'two words', 'a+b', 'x&y=z', 'naïve ☕', 'q?r#s', "it's", '50-50~ok', 'a:b;c', 'UPPER_lower.9'];
const MAX_DEPTH = 3;

/** Returns a value that matches a schema in the importer's format. */
function sampleValue(schema: unknown, random: () => number, depth = 0): unknown {
  if (!isRecord(schema)) return 'plain';
  if (schema['format'] === 'file') return sampleFile();
  if (Array.isArray(schema['enum']))
    return (
      pick(
        schema['enum'].filter((value) => value !== null),
        random,
      ) ?? schema['enum'][0]
    );
  if (Array.isArray(schema['anyOf'])) return sampleValue(schema['anyOf'][0], random, depth);
  const type = [schema['type']].flat().find((name) => name !== 'null');
  switch (type) {
    case 'object':
      return sampleObject(schema, random, depth);
    case 'array':
      return sampleList(schema, random, depth);
    case 'integer':
      return Math.round(sampleNumber(schema, random));
    case 'number':
      return sampleNumber(schema, random);
    case 'boolean':
      return random() < 0.5;
    default:
      return sampleText(schema, random);
  }
}

/** Returns an object with every required member and about half of the others. */
export function sampleObject(schema: JsonSchema, random: () => number, depth = 0): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const chosen = Object.entries(properties).filter(
    ([name]) => required.has(name) || (depth < MAX_DEPTH && random() < 0.5),
  );
  return Object.fromEntries(chosen.map(([name, member]) => [name, sampleValue(member, random, depth + 1)]));
}

function sampleList(schema: JsonSchema, random: () => number, depth: number): unknown[] {
  const least = Math.max(Number(schema['minItems'] ?? 0), 1);
  const length = Math.min(Math.max(least, random() < 0.6 ? 2 : 1), Number(schema['maxItems'] ?? 2));
  return Array.from({ length: Math.max(length, least) }, () => sampleValue(schema['items'], random, depth + 1));
}

function sampleNumber(schema: JsonSchema, random: () => number): number {
  const low = Math.max(
    bound(schema['minimum'], -1e9),
    bound(schema['exclusiveMinimum'], -1e9) + (schema['exclusiveMinimum'] === undefined ? 0 : 1),
  );
  const high = Math.min(
    bound(schema['maximum'], 1e9),
    bound(schema['exclusiveMaximum'], 1e9) - (schema['exclusiveMaximum'] === undefined ? 0 : 1),
  );
  const from = Math.max(low, Math.min(high, 1));
  return Math.min(high, Math.ceil(from + random() * 20));
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function sampleText(schema: JsonSchema, random: () => number): string {
  const formats: Record<string, string> = {
    date: '2026-01-02',
    uuid: '0b8f2c1e-6f0e-4b7e-9f37-1c6a2f7d5e10',
    ipv4: '192.0.2.1',
    ipv6: '2001:db8::1',
  };
  const known = formats[String(schema['format'])];
  if (known !== undefined) return known;
  const least = Number(schema['minLength'] ?? 0);
  const most = Number(schema['maxLength'] ?? 100);
  const text = pick(TEXTS, random) ?? 'plain';
  return [...text.padEnd(least, 'x')].slice(0, Math.max(most, least)).join('').trim().padEnd(least, 'x');
}

function sampleFile(): Record<string, string> {
  return { file_name: 'note.txt', mime_type: 'text/plain', content_base64: Buffer.from('hello').toString('base64') };
}

function pick<T>(items: readonly T[], random: () => number): T | undefined {
  return items[Math.floor(random() * items.length)];
}
