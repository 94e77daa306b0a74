import type { ResolveHookSync } from 'node:module';

const RELATIVE = /^(?:\.\/|(?:\.\.\/)+)(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(ts|js)$/;
const FORMATS: Record<string, string> = { ts: 'module-typescript', js: 'module' };

/**
 * Returns a hook that resolves imports between the modules of this program from the text of the specifier alone. Node's
 * own resolution parses a URL, and looks for the file, its real path and its package. With hundreds of modules, that
 * takes a tenth of the start time.
 *
 * @param base the URL of the program's folder, with a slash at its end
 */
export function ownModules(base: string): ResolveHookSync {
  const packages = `${base}node_modules/`;
  return (specifier, context, next) => {
    const { parentURL = '' } = context;
    const isOwn = parentURL.startsWith(base) && !parentURL.startsWith(packages);
    const extension = isOwn ? RELATIVE.exec(specifier)?.[1] : undefined;
    if (extension === undefined) return next(specifier, context);
    let end = parentURL.lastIndexOf('/');
    let from = specifier.startsWith('./') ? 2 : 0;
    for (; specifier.startsWith('../', from); from += 3) end = parentURL.lastIndexOf('/', end - 1);
    const url = parentURL.slice(0, end + 1) + specifier.slice(from);
    if (!url.startsWith(base)) return next(specifier, context);
    return { url, format: FORMATS[extension], shortCircuit: true };
  };
}
