/**
 * Converts a JSON pointer to the format of error messages: `/labels/0/name` becomes `labels[0].name`.
 *
 * @param root the name of the value that the pointer is relative to, for example `tool_input`
 */
export function dotted(pointer: string, root = ''): string {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), root);
}
