/** The same JSON in ASCII: characters above it stand in strings alone, where they may be written as escapes (RFC 8259 §7). */
export function asciiJson(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
