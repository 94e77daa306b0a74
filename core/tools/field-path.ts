/**
 * A JSON pointer in the words of error messages: `/labels/0/name` as `labels[0].name`.
 *
 * @param root what the pointer begins in, for example `tool_input`
 */
export function dotted(pointer: string, root = ''): string {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), root);
}
