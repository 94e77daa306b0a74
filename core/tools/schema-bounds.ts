import { SCHEMA } from '../budgets.ts';
import { isRecord, percentDecoded, pointerSegments } from './pointer.ts';

/**
 * A schema that cannot be used safely. The message is the rest of a sentence whose subject is the place in the schema.
 */
export class SchemaBoundsError extends Error {
  /** JSON pointer into the schema. */
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.name = 'SchemaBoundsError';
    this.pointer = pointer;
  }
}

/** The cost of validating with a schema. */
export interface SchemaSize {
  /**
   * The maximum number of subschemas and literals that one value is compared with: their number in the schema after
   * every reference is expanded. A reference back to a schema that is being expanded counts as one.
   */
  expanded: number;
  /** Whether the schema refers to itself; then the cost also depends on the nesting of the value. */
  recursive: boolean;
  hasPatterns: boolean;
}

type Node = Readonly<Record<string, unknown>>;

/** Keywords whose schemas apply to the same value (JSON Schema 2020-12 Core §10.2). */
const SAME_VALUE = new Set([
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);
/** Keywords whose schemas apply to members, items and names (§10.3, §11). */
const BELOW = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'items',
  'prefixItems',
  'contains',
  'unevaluatedItems',
  'additionalItems',
]);
/** Keywords of the two sets above that map names to schemas. */
const BY_NAME = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies']);
/** Keywords that contain literal values. */
const LITERALS = new Set(['enum', 'const', 'default', 'required', 'dependentRequired', 'dependencies']);
/**
 * Keywords that are not allowed. The size of dynamic references cannot be computed beforehand. A schema with an `$id`
 * would be visible to every schema that is compiled later, also of other environments. With `$async` the library's
 * validator returns a promise, which counts as valid, and whose rejection would end the process.
 */
const FORBIDDEN = new Set(['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor', '$id', '$async']);
/** How many characters of a literal cost as much as one node. */
const CHARACTERS_PER_NODE = 32;

const sizes = new WeakMap<object, SchemaSize>();

/**
 * Checks a JSON Schema before it is compiled: whether it is self-contained, and how large it is with its references
 * expanded (threat E12). Two references in each of twenty definitions turn two kilobytes into a million subschemas.
 *
 * @throws SchemaBoundsError with the path, if the schema is not self-contained, too large, nested too deeply, or uses a
 * keyword that is not allowed
 */
export function measureSchema(schema: unknown): SchemaSize {
  if (!isRecord(schema)) throw new SchemaBoundsError('', 'must be an object');
  const known = sizes.get(schema);
  if (known) return known;
  const walk = new RawWalk();
  walk.visit(schema, '', 0);
  const graph = new SchemaGraph(schema, walk.anchors);
  const size = { expanded: graph.expand(schema, '', 0), recursive: graph.recursive, hasPatterns: walk.hasPatterns };
  sizes.set(schema, size);
  return size;
}

/**
 * Whether compiling the schema and validating the value take so little time, according to their sizes, that the event
 * loop can do it. The time for patterns is not included.
 *
 * @throws SchemaBoundsError
 */
export function isSmallWork(schema: unknown, value: unknown): boolean {
  const { expanded, recursive } = measureSchema(schema);
  if (recursive || expanded > SCHEMA.inlineExpanded) return false;
  return countNodes(value, SCHEMA.inlineWork / expanded) * expanded <= SCHEMA.inlineWork;
}

/** Counts a value and all values in it; stops after the limit is exceeded. */
function countNodes(value: unknown, limit: number): number {
  let nodes = 1;
  if (typeof value !== 'object' || value === null) return nodes;
  for (const item of Object.values(value)) {
    nodes += countNodes(item, limit - nodes);
    if (nodes > limit) break;
  }
  return nodes;
}

/**
 * Visits every value of the schema's document, also below unknown keywords, because references may point there. Checks
 * the size and the keywords of the document, and collects its anchors.
 */
class RawWalk {
  readonly anchors = new Map<string, Node>();
  hasPatterns = false;
  #nodes = 0;

  visit(node: unknown, pointer: string, depth: number): void {
    if (typeof node !== 'object' || node === null) return;
    if (++this.#nodes > SCHEMA.nodes)
      throw new SchemaBoundsError('', `must have at most ${SCHEMA.nodes} objects and arrays`);
    if (depth > SCHEMA.levels) throw new SchemaBoundsError(pointer, `must be nested at most ${SCHEMA.levels} levels`);
    for (const [key, value] of Object.entries(node)) {
      // Below `properties`, a key is the name of a member, which may be that of a forbidden keyword. There its value is
      // a schema, so a forbidden name whose value is an object is allowed.
      if (FORBIDDEN.has(key) && !isRecord(value)) throw new SchemaBoundsError(pointer, `must not use ${key}`);
      if (typeof value === 'string') this.#text(node as Node, key, value, pointer);
      else if (key === 'patternProperties') this.hasPatterns = true;
      this.visit(value, `${pointer}/${escaped(key)}`, depth + 1);
    }
  }

  #text(node: Node, key: string, value: string, pointer: string): void {
    if (key === 'pattern') this.hasPatterns = true;
    if (key === '$ref' && !value.startsWith('#')) {
      throw new SchemaBoundsError(pointer, 'must not refer to another document');
    }
    if (key === '$anchor') this.anchors.set(value, node);
  }
}

/** The graph of the subschemas. Its edges are the keywords that contain schemas, and the references. */
class SchemaGraph {
  recursive = false;
  readonly #root: Node;
  readonly #anchors: ReadonlyMap<string, Node>;
  readonly #expanded = new Map<Node, number>();
  /** The schemas from the root to the visited one, each with its depth. */
  readonly #path = new Map<Node, number>();
  /** Schemas that cannot apply themselves to the same value again. */
  readonly #loopFree = new Set<Node>();

  constructor(root: Node, anchors: ReadonlyMap<string, Node>) {
    this.#root = root;
    this.#anchors = anchors;
  }

  /**
   * Returns the size of a schema including all schemas that it applies.
   *
   * @param depth the number of schemas from the root
   */
  expand(schema: unknown, pointer: string, depth: number): number {
    if (!isRecord(schema)) return 1;
    const known = this.#expanded.get(schema);
    if (known !== undefined) return known;
    if (this.#path.has(schema)) {
      this.recursive = true;
      return 1;
    }
    if (depth > SCHEMA.chain) throw tooDeep(pointer);
    this.#refuseLoop(schema, pointer, new Set());
    this.#path.set(schema, depth);
    let size = bounded(1 + literalsOf(schema), pointer);
    for (const [applied, place] of this.#applied(schema, pointer, [SAME_VALUE, BELOW])) {
      size = bounded(size + this.expand(applied, place, depth + 1), pointer);
    }
    this.#path.delete(schema);
    this.#expanded.set(schema, size);
    return size;
  }

  /** Rejects a schema that applies itself to the same value again, because validation would never end. */
  #refuseLoop(schema: Node, pointer: string, onWay: Set<Node>): void {
    if (this.#loopFree.has(schema)) return;
    if (onWay.has(schema))
      throw new SchemaBoundsError(
        pointer,
        'must not contain a reference that leads back to itself without a property or item in between',
      );
    if (onWay.size > SCHEMA.chain) throw tooDeep(pointer);
    onWay.add(schema);
    for (const [applied, place] of this.#applied(schema, pointer, [SAME_VALUE])) {
      if (isRecord(applied)) this.#refuseLoop(applied, place, onWay);
    }
    onWay.delete(schema);
    this.#loopFree.add(schema);
  }

  *#applied(schema: Node, pointer: string, kinds: readonly ReadonlySet<string>[]): Generator<[unknown, string]> {
    for (const [keyword, value] of Object.entries(schema)) {
      if (!kinds.some((kind) => kind.has(keyword))) continue;
      const place = `${pointer}/${keyword}`;
      if (keyword === '$ref') {
        if (typeof value === 'string') yield [this.#target(value, pointer), value.slice(1)];
      } else if (Array.isArray(value)) {
        for (const [index, each] of value.entries()) yield [each, `${place}/${index}`];
      } else if (BY_NAME.has(keyword) && isRecord(value)) {
        for (const [name, each] of Object.entries(value)) yield [each, `${place}/${escaped(name)}`];
      } else {
        yield [value, place];
      }
    }
  }

  #target(reference: string, pointer: string): unknown {
    const fragment = percentDecoded(reference.slice(1));
    if (fragment !== '' && !fragment.startsWith('/')) {
      const anchor = this.#anchors.get(fragment);
      if (anchor) return anchor;
      throw new SchemaBoundsError(pointer, `refers to ${reference.slice(0, 100)}, which does not exist`);
    }
    let target: unknown = this.#root;
    for (const segment of pointerSegments(fragment)) {
      const held = typeof target === 'object' && target !== null && Object.hasOwn(target, segment);
      if (!held) throw new SchemaBoundsError(pointer, `refers to ${reference.slice(0, 100)}, which does not exist`);
      target = (target as Node)[segment];
    }
    return target;
  }
}

function tooDeep(pointer: string): SchemaBoundsError {
  return new SchemaBoundsError(pointer, `must have at most ${SCHEMA.chain} levels of nested and referenced schemas`);
}

function bounded(size: number, pointer: string): number {
  if (size <= SCHEMA.expanded) return size;
  const message = `expands to more than ${SCHEMA.expanded} subschemas and values when all references are followed`;
  throw new SchemaBoundsError(pointer, message);
}

function literalsOf(schema: Node): number {
  let weight = 0;
  for (const [keyword, value] of Object.entries(schema)) if (LITERALS.has(keyword)) weight += weightOf(value);
  return weight;
}

function weightOf(value: unknown): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / CHARACTERS_PER_NODE);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce(
    (sum, [key, item]) => sum + weightOf(item) + Math.floor(key.length / CHARACTERS_PER_NODE),
    1,
  );
}

function escaped(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}
