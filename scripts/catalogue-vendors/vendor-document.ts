import type { Operation } from '../../core/openapi-conversion/operations.ts';
import type { Resolver } from '../../core/openapi-conversion/resolve.ts';
import type { SchemaReader } from '../../core/openapi-conversion/schema-view.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import type { Source } from './source.ts';

/** An operation of a description whose path a tool's path can be matched with. */
export interface VendorOperation extends Operation {
  matcher: RegExp;
  /** The parameters of the path, in order. */
  names: string[];
  /** The number of characters of the path that are not parameters. */
  fixed: number;
  /** A header that distinguishes operations of one path. */
  header?: [name: string, value: string];
}

export interface VendorDocument {
  source: Source;
  document: Record<string, unknown>;
  operations: VendorOperation[];
  resolve: Resolver;
  read: SchemaReader;
  /** Finds the operation of a tool whose path does not identify it, such as a GraphQL query. */
  operationFor?(tool: ToolDefinition): VendorOperation | undefined;
  /** Returns the differences between the query of a tool and the description. */
  findings?(tool: ToolDefinition): string[];
  /** Returns the positions in the GraphQL query of a tool at which names of fields and arguments begin. */
  parts?(tool: ToolDefinition): number[];
}
