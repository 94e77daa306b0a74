import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { ROOT } from '../flows/markdown.ts';
import { startTestServer } from '../support/server.ts';
import { parseQuery } from './promql.ts';

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string; legendFormat: string }[];
}
interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string };
}

const read = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8');
const dashboard = JSON.parse(read('grafana/valetkey.json')) as { panels: Panel[] };
const rules = (parse(read('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
/** Labels that Prometheus adds, and the label of histogram buckets. */
const ADDED = ['job', 'instance', 'le'];

describe('dashboard and alerts', () => {
  /** The labels of each metric that a server exports. */
  let exported: Map<string, readonly string[]>;

  before(async () => {
    const server = await startTestServer();
    exported = new Map(
      server.parts.metrics.registry.getMetricsAsArray().map((metric) => {
        const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: readonly string[] };
        return [name, labelNames];
      }),
    );
    await server.stop();
  });

  /** Returns what is wrong with an expression. */
  function problemsOf(text: string): string[] {
    const { hasError, selectors, groupings } = parseQuery(text.replaceAll('$__rate_interval', '5m'));
    if (hasError) return [`not PromQL: ${text}`];
    const labels = selectors.flatMap(({ metric }) => labelsOf(metric) ?? []);
    return [
      ...selectors.flatMap(({ metric, labels: used }) => {
        const known = metric === 'up' ? ADDED : labelsOf(metric);
        if (!known) return [`${metric} is not exported`];
        return used
          .filter((label) => ![...known, ...ADDED].includes(label))
          .map((label) => `${metric} has no ${label}`);
      }),
      ...groupings
        .filter((label) => ![...labels, ...ADDED].includes(label))
        .map((label) => `no label ${label}: ${text}`),
    ];
  }

  function labelsOf(metric: string): readonly string[] | undefined {
    return exported.get(metric) ?? exported.get(metric.replace(/_(bucket|sum|count)$/, ''));
  }

  it('are validated by a check that detects unknown metrics, unknown labels and syntax errors', () => {
    expect(problemsOf('sum by (le) (rate(valetkey_commit_duration_seconds_bucket{kind="write"}[5m]))')).to.deep.equal(
      [],
    );
    expect(problemsOf('valetkey_acounts')).to.deep.equal(['valetkey_acounts is not exported']);
    expect(problemsOf('valetkey_accounts{state="ACTIVE"}')).to.deep.equal(['valetkey_accounts has no state']);
    expect(problemsOf('sum by (stat) (valetkey_accounts)')[0]).to.match(/^no label stat/);
    expect(problemsOf('sum(rate(valetkey_accounts[5m])')[0]).to.match(/^not PromQL/);
  });

  it('deploy/grafana/valetkey.json shows metrics and labels that the server exports', () => {
    const targets = dashboard.panels.flatMap(({ targets: ofPanel = [] }) => ofPanel);
    expect(targets.length).to.be.greaterThan(15);
    expect(targets.flatMap(({ expr }) => problemsOf(expr))).to.deep.equal([]);
    for (const { expr, legendFormat } of targets) {
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const { selectors } = parseQuery(expr.replaceAll('$__rate_interval', '5m'));
      const known = [...ADDED, ...selectors.flatMap(({ metric }) => labelsOf(metric) ?? [])];
      expect(
        shown.filter((label) => !known.includes(label)),
        expr,
      ).to.deep.equal([]);
    }
  });

  it('deploy/alerts.yaml compares metrics and labels that the server exports', () => {
    expect(rules.flatMap(({ expr }) => problemsOf(expr))).to.deep.equal([]);
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
    const guide = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    expect(rules.filter(({ alert }) => !guide.includes(`\`${alert}\``)).map(({ alert }) => alert)).to.deep.equal([]);
  });
});
