/** Lines of a source file between `// #region <title>` and `// #endregion`. */
export interface CodeRegion {
  title: string;
  file: string;
  /** The number of the first line. */
  line: number;
  code: string;
}

/** Returns the regions of a source file, in their order. */
export function codeRegions(file: string, source: string): CodeRegion[] {
  const lines = source.split('\n');
  return lines.flatMap((text, index) => {
    const title = /^\s*\/\/ #region (.+)$/.exec(text)?.[1];
    if (title === undefined) return [];
    const end = lines.findIndex((other, at) => at > index && /^\s*\/\/ #endregion$/.test(other));
    const body = lines.slice(index + 1, end);
    const indents = body.filter((line) => line !== '').map((line) => line.length - line.trimStart().length);
    const code = body.map((line) => line.slice(Math.min(...indents))).join('\n');
    return [{ title, file, line: index + 2, code }];
  });
}
