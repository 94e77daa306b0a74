import { parser } from '@prometheus-io/lezer-promql';

export interface Selector {
  metric: string;
  /** The names of the labels that the selector compares. */
  labels: string[];
}

export interface Query {
  hasError: boolean;
  selectors: Selector[];
  /** The labels that results are grouped by. */
  groupings: string[];
}

/** Parses an expression with the grammar of Prometheus. */
export function parseQuery(text: string): Query {
  const query: Query = { hasError: false, selectors: [], groupings: [] };
  parser.parse(text).iterate({
    enter(node) {
      if (node.type.isError) query.hasError = true;
      const shown = text.slice(node.from, node.to);
      if (node.name === 'VectorSelector')
        query.selectors.push({ metric: /^[\w:]*/.exec(shown)?.[0] ?? '', labels: [] });
      if (node.name !== 'LabelName') return;
      const isMatcher = node.node.parent?.name.endsWith('LabelMatcher') || node.node.parent?.name.endsWith('Matcher');
      if (isMatcher) query.selectors.at(-1)?.labels.push(shown);
      else query.groupings.push(shown);
    },
  });
  return query;
}
