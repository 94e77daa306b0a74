export function run(): never {
  for (;;);
}
