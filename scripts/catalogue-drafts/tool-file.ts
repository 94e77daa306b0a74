import { Document, isCollection, visit } from 'yaml';
import type { Tool } from '../../core/tools/tool.ts';

/** Returns the first line of every generated file, which identifies such files. */
export function noticeOf(words: string): string {
  return `# Made by \`make catalogue\` from catalogue/generated/${words}; edits are lost.\n`;
}

const WIDTH = 110;

/**
 * Returns a tool as YAML; the same tool always gives the same bytes.
 *
 * @param words the file below catalogue/generated
 */
export function toolFile(tool: Omit<Tool, 'connector'>, words: string): string {
  const document = new Document(tool, { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (_, node) => {
      if (isCollection(node)) node.flow = JSON.stringify(node.toJS(document)).length <= WIDTH;
    },
  });
  return noticeOf(words) + document.toString({ lineWidth: 0, singleQuote: true, flowCollectionPadding: true });
}
