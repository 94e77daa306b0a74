import type { ImportResult } from '../../core/openapi-conversion/import-document.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import { referencesOf } from '../../core/tools/references.ts';
import { measureSchema } from '../../core/tools/schema-bounds.ts';
import { schemaCompiler } from '../../core/tools/schema-compiler.ts';

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const KEY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Returns what common model APIs would reject, and what Valetkey could not run; one line per problem. */
export function checkTools({ tools }: ImportResult): string[] {
  const faults: string[] = [];
  const compiler = schemaCompiler();
  const names = new Set<string>();
  for (const { tool } of tools) {
    const fault = (text: string) => faults.push(`${tool.name}: ${text}`);
    if (!NAME.test(tool.name)) fault('illegal name');
    if (names.has(tool.name)) fault('name given twice');
    names.add(tool.name);
    if (tool.description === '' || tool.description.length > 280 || /[\n\r]/.test(tool.description))
      fault('description');
    if (tool.title === '' || tool.title.length > 80) fault('title');
    const { type, oneOf, anyOf, allOf } = tool.input_schema;
    if (type !== 'object' || oneOf || anyOf || allOf) fault('the top level is not a plain object');
    for (const schema of [tool.input_schema, tool.output_schema]) {
      walk(schema, fault);
      try {
        measureSchema(schema);
        compiler.compile(schema);
      } catch (error) {
        fault(`does not compile: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        compiler.removeSchema(schema);
      }
    }
    for (const { field, message } of referencesOf(tool).problems) fault(`${field} ${message}`);
    const properties = tool.input_schema['properties'] as object;
    for (const input of referencesOf(tool).inputs) if (!Object.hasOwn(properties, input)) fault(`no input ${input}`);
  }
  return faults;
}

function walk(schema: unknown, fault: (text: string) => void): void {
  if (Array.isArray(schema)) for (const item of schema) walk(item, fault);
  if (!isRecord(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$ref' || keyword === '$dynamicRef') fault('a reference');
    if (keyword === 'enum') continue;
    if (keyword !== 'properties' || !isRecord(value)) walk(value, fault);
    else {
      for (const [key, member] of Object.entries(value)) {
        if (!KEY.test(key)) fault(`illegal key ${JSON.stringify(key)}`);
        walk(member, fault);
      }
    }
  }
}
