import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../flows/markdown.ts';

/** The modules of `kubernetes-types` by the `apiVersion` of an object. */
const MODULES: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'batch/v1': 'batch/v1',
  'policy/v1': 'policy/v1',
};

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

/**
 * Compares objects with the types that are generated from the description of the API of Kubernetes.
 *
 * @returns one message for each unknown or missing field and each value of another type
 */
export function problemsOf(objects: readonly KubernetesObject[]): string[] {
  const file = join(ROOT, 'test/deploy/objects.ts');
  const text = objects
    .map(({ kind, apiVersion, ...rest }, i) => {
      const module = MODULES[apiVersion];
      if (module === undefined) throw new Error(`no types for ${apiVersion}`);
      const literal = JSON.stringify({ apiVersion, kind, ...rest });
      return `import type { ${kind} as Kind${i} } from 'kubernetes-types/${module}.js';\nexport const object${i}: Kind${i} = ${literal};`;
    })
    .join('\n');
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], module: ts.ModuleKind.NodeNext };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, target) =>
    name === file ? ts.createSourceFile(name, text, target) : getSourceFile.call(host, name, target);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
