export function run(): never {
  const kept: unknown[] = [];
  for (;;) kept.push({ text: `${kept.length}`, list: [kept.length] });
}
