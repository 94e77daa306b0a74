/**
 * Escapes all characters outside ASCII in JSON text. They occur only in strings, where escapes are allowed (RFC 8259
 * §7).
 */
export function asciiJson(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
