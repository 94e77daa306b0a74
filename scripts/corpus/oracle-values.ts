import { placesOf } from '../../core/openapi-conversion/request.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { Tool } from '../../core/tools/tool.ts';

type Data = Record<string, unknown>;

/** A tool's input, by place and with the names in requests, in the format of the renderer `@readme/oas-to-har`. */
export interface OracleValues {
  path: Data;
  query: Data;
  header: Data;
  body?: unknown;
  formData?: Data;
}

export function oracleValues({ request }: Tool, path: string, input: Data): OracleValues {
  const values: OracleValues = { path: {}, query: { ...request.query }, header: { ...request.headers } };
  const variables = [...request.path.matchAll(/\{[+.;]?([^{}*]+)\*?\}/g)].map(([, name]) => name as string);
  placesOf(path.split('#', 1)[0] ?? '').forEach((wire, index) => {
    values.path[wire] = input[variables[index] ?? ''];
  });
  for (const { in: place, name, input: key } of request.parameters ?? []) {
    if (Object.hasOwn(input, key)) values[place][name] = input[key];
  }
  const { format, value } = request.body ?? { format: 'none' as const };
  if (format === 'form') values.formData = fill(value, input) as Data;
  else if (format !== 'none') values.body = fill(value, input);
  return values;
}

/** Fills in inputs; templates from the importer contain whole inputs at most two levels deep. */
function fill(template: unknown, input: Data): unknown {
  if (!isRecord(template)) return template;
  if (typeof template['$input'] === 'string') return input[template['$input']];
  if (typeof template['$file'] === 'string') return fileOf(input[template['$file']]);
  if (Object.hasOwn(template, '$literal')) return template['$literal'];
  return Object.fromEntries(
    Object.entries(template)
      .map(([key, member]) => [key, fill(member, input)])
      .filter(([, member]) => member !== undefined),
  );
}

function fileOf(file: unknown): unknown {
  if (Array.isArray(file)) return file.map(fileOf);
  return isRecord(file) ? `data:text/plain;name=note.txt;base64,${file['content_base64']}` : undefined;
}
