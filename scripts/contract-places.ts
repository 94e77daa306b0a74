import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Returns where the files of a contract define a name at their top level, each as `file:line:1`. */
export function definitionsOf(name: string, folder: string): string[] {
  return linesWith((line) => line.startsWith(`${name}:`), folder);
}

/**
 * Adds `file:line:column` to a finding about the bundled contract. The finding begins with the `operationId`, the
 * method and path, the event or the component that it is about; any other finding is not changed.
 */
export function placed(finding: string, folder: string): string {
  const [subject = ''] = finding.split(/[\s/:]/, 1);
  const component = /^\/components\/\w+\/(\w+)/.exec(finding)?.[1] ?? subject;
  const operation = linesWith((line) => line.trim() === `operationId: ${subject}`, folder);
  // Paths and events are listed in the root document.
  const listed = /^(?:[a-z]+ (\/\S*)|([a-z_]+\.[a-z_]+)):/.exec(finding)?.slice(1).find(Boolean);
  const entry = listed === undefined ? [] : linesWith((line) => line.startsWith(`  ${listed}:`), folder);
  const [place] = [...operation, ...definitionsOf(component, folder), ...entry];
  return place === undefined ? finding : `${place}: ${finding}`;
}

function linesWith(matches: (line: string) => boolean, folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
  return files.sort().flatMap((file) => {
    const path = join(folder, file);
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const column = line.length - line.trimStart().length + 1;
        return line !== '' && matches(line) ? [`${relative(process.cwd(), path)}:${index + 1}:${column}`] : [];
      });
  });
}
