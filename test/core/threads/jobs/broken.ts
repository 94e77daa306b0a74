export function run(): never {
  throw new TypeError('a fault in the code');
}
