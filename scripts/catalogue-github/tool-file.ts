import { Document, isCollection, visit } from 'yaml';
import type { Tool } from '../../core/tools/tool.ts';

/** The first line of every file that is made, by which such a file is known. */
export const MADE = '# Made by `make catalogue` from catalogue/generated/github/words.yaml; edits are lost.\n';

const WIDTH = 110;

/** A tool as a YAML file; the same tool gives the same bytes. */
export function toolFile(tool: Omit<Tool, 'connector'>): string {
  const document = new Document(tool, { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (_, node) => {
      if (isCollection(node)) node.flow = JSON.stringify(node.toJS(document)).length <= WIDTH;
    },
  });
  return MADE + document.toString({ lineWidth: 0, singleQuote: true, flowCollectionPadding: true });
}
