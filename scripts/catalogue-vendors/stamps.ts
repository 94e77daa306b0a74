import type { ToolFile } from '../catalogue-files.ts';
import { operationOf } from './compare.ts';
import type { VendorDocument } from './vendor-document.ts';

/** A vendor's description, and its stamp: the text in the file of a tool that was compared with this description. */
export interface StampedDocument {
  stamp: string;
  vendor: VendorDocument;
}

/**
 * Checks that a tool names the description that its operation is in.
 *
 * @param documents every description of the connector
 * @returns `vendor`, the description to compare with; undefined if none has the operation. If the tool names another
 * description, `problem` says so in one sentence, and `right` is the stamp that the tool should have. A tool whose
 * operation is in no description may name one that is not in the list, and then has no problem.
 */
export function checkStamp(
  tool: ToolFile['data'],
  documents: readonly StampedDocument[],
): { vendor?: VendorDocument; problem?: string; right?: string } {
  const holders = documents.filter(({ vendor }) => operationOf(tool, vendor) !== undefined);
  const [first] = holders;
  const named = tool.compared?.with;
  if (first === undefined) {
    // The tool may call another API of the vendor, such as GraphQL. It then names another description, which a
    // reviewer compares by reading.
    const isOwn = documents.some(({ stamp }) => stamp === named);
    return isOwn ? { problem: `compared.with: ${named} does not have the operation` } : {};
  }
  const holder = holders.find(({ stamp }) => stamp === named);
  if (holder) return { vendor: holder.vendor };
  const listed = holders.map(({ stamp }) => stamp).join(' or ');
  const problem =
    named === undefined
      ? `compared: must name ${listed}`
      : documents.some(({ stamp }) => stamp === named)
        ? `compared.with: ${named} does not have the operation, ${listed} has`
        : `compared.with: must be ${listed}, not ${named}`;
  return { vendor: first.vendor, problem, right: first.stamp };
}
