import { Document, isCollection, visit } from 'yaml';
import type { Tool } from '../../core/tools/tool.ts';

/** The first line of every generated file, which identifies such files. */
export const GENERATED_NOTICE =
  '# Made by `make catalogue` from catalogue/generated/github/words.yaml; edits are lost.\n';

const WIDTH = 110;

/** Returns a tool as YAML; the same tool always gives the same bytes. */
export function toolFile(tool: Omit<Tool, 'connector'>): string {
  const document = new Document(tool, { aliasDuplicateObjects: false });
  visit(document, {
    Collection: (_, node) => {
      if (isCollection(node)) node.flow = JSON.stringify(node.toJS(document)).length <= WIDTH;
    },
  });
  return GENERATED_NOTICE + document.toString({ lineWidth: 0, singleQuote: true, flowCollectionPadding: true });
}
