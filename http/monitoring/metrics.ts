import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { programVersion } from '../../core/program-version.ts';
import { DurationHistogram } from './duration-histogram.ts';
import { showEventLoopDelay, showEventLoopUtilization, watchEventLoop } from './event-loop-delay.ts';

export interface Metrics {
  registry: Registry;
  /** Counts one request. */
  request(operation: string, status: number, seconds: number): void;
  /**
   * Counts one tool execution by its outcome: `success`, the kind of its error, or `unknown` after an error of the
   * server.
   */
  execution(connector: string, tool: string, outcome: string, seconds: number): void;
  /** Counts one transaction that failed because of the storage, by the error code. */
  storageFailure(code: string): void;
  /** Counts one request for a new token by its outcome. */
  refresh(connector: string, outcome: string): void;
  /** Counts one committed event. */
  event(type: string): void;
  /**
   * Counts one transaction by its outcome, with the time until it was durable (`write`), committed (`commit`) or
   * undone.
   */
  commit(kind: 'write' | 'commit', outcome: string, seconds: number): void;
  /** Counts one attempt of a job by its outcome. */
  job(kind: string, outcome: string): void;
  /** Counts one run of a periodic job by its outcome. */
  periodicJob(name: string, outcome: string, seconds: number): void;
  /** Adds a value that is read at each scrape. If reading fails, the metric keeps its last value. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** Adds a gauge with a value for each combination of labels. Combinations that are no longer returned are removed. */
  gauges<Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    read: () => Promise<Reading<Label>[]>,
  ): void;
}

export interface Reading<Label extends string> {
  labels: Record<Label, string>;
  value: number;
}

/**
 * The maximum number of connectors with their own metrics; further ones are counted as `other`. The catalogue has
 * fewer, but custom providers can be added and deleted without end.
 */
const MAX_CONNECTORS = 500;

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The maximum number of tools with their own metrics. An import can add any number of tools, and each would become a
 * time series in the monitoring system.
 */
const MAX_TOOLS = 2_000;

/** @param place the number of this process, if several serve one address: every metric has it as label `process` */
export function createMetrics(place: number | null = null): Metrics {
  const registry = new Registry();
  if (place !== null) registry.setDefaultLabels({ process: String(place) });
  collectDefaultMetrics({ register: registry, prefix: 'valetkey_' });
  showEventLoopDelay(registry, watchEventLoop());
  showEventLoopUtilization(registry);
  const requests = new DurationHistogram(
    'valetkey_http_request_duration_seconds',
    'Time to respond to a request of the API',
    ['operation', 'status'],
    BUCKETS,
  );
  const executions = new DurationHistogram(
    'valetkey_tool_execution_duration_seconds',
    'Time to execute a tool, by connector and outcome',
    ['connector', 'outcome'],
    BUCKETS,
  );
  const commits = new DurationHistogram(
    'valetkey_commit_duration_seconds',
    'Time until a unit of work was durable (kind write) or committed (kind commit), or was undone',
    ['kind', 'outcome'],
    BUCKETS,
  );
  requests.registerIn(registry);
  commits.registerIn(registry);
  executions.registerIn(registry);
  const byTool = new Counter({
    name: 'valetkey_tool_executions_total',
    help: 'Tool executions, by connector, tool and outcome; tools beyond the first 2,000 are counted as one',
    labelNames: ['connector', 'tool', 'outcome'],
    registers: [registry],
  });
  const refreshes = new Counter({
    name: 'valetkey_refreshes_total',
    help: 'Requests for new tokens by connector and outcome: success, refused by the provider, failed',
    labelNames: ['connector', 'outcome'],
    registers: [registry],
  });
  const events = new Counter({
    name: 'valetkey_events_total',
    help: 'Committed events by type, except those of executions',
    labelNames: ['type'],
    registers: [registry],
  });
  new Gauge({
    name: 'valetkey_build_info',
    help: 'Always 1; the labels are the versions of Valetkey and of Node',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: programVersion(), node: process.version }, 1);
  const connectors = createBound(MAX_CONNECTORS);
  const tools = createBound(MAX_TOOLS);
  const storageFailures = new Counter({
    name: 'valetkey_storage_failures_total',
    help: 'Transactions that failed because of the storage, by the code of the failure',
    labelNames: ['code'],
    registers: [registry],
  });
  const jobs = new Counter({
    name: 'valetkey_job_attempts_total',
    help: 'Attempts of jobs, by kind and outcome: done, retry (another attempt follows), or failed',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
  const periodicJobs = new Counter({
    name: 'valetkey_periodic_job_runs_total',
    help: 'Runs of periodic jobs, by name and outcome: done or failed',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  });
  const periodicJobSeconds = new Counter({
    name: 'valetkey_periodic_job_seconds_total',
    help: 'The duration of all runs of periodic jobs, by name',
    labelNames: ['job'],
    registers: [registry],
  });
  return {
    registry,
    request: (operation, status, seconds) => requests.observe(operation, status, seconds),
    execution: (name, tool, outcome, seconds) => {
      const connector = connectors(name);
      executions.observe(connector, outcome, seconds);
      byTool.labels(connector, tools(tool), outcome).inc();
    },
    refresh: (connector, outcome) => refreshes.labels(connectors(connector), outcome).inc(),
    event: (type) => events.labels(type).inc(),
    commit: (kind, outcome, seconds) => commits.observe(kind, outcome, seconds),
    job: (kind, outcome) => jobs.labels(kind, outcome).inc(),
    periodicJob(name, outcome, seconds) {
      periodicJobs.labels(name, outcome).inc();
      periodicJobSeconds.labels(name).inc(seconds);
    },
    storageFailure: (code) => storageFailures.labels(code).inc(),
    gauge(name, help, read) {
      addGauge(registry, { name, help }, async (gauge) => gauge.set(await read()));
    },
    gauges(name, help, labelNames, read) {
      addGauge(registry, { name, help, labelNames }, async (gauge) => {
        const readings = await read();
        gauge.reset();
        for (const { labels, value } of readings) gauge.set(labels, value);
      });
    },
  };
}

/** Limits the number of values of a label: the function returns `other` for each name after the first `most` names. */
function createBound(most: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (!known.has(name) && known.size >= most) return 'other';
    known.add(name);
    return name;
  };
}

type GaugeFacts = { name: string; help: string; labelNames?: readonly string[] };

function addGauge(registry: Registry, facts: GaugeFacts, update: (gauge: Gauge) => Promise<void>): void {
  const collect = async function (this: Gauge) {
    try {
      await update(this);
    } catch {
      // An error here must not affect the other metrics, which are most important during failures.
    }
  };
  // If there are several servers in one process, as in tests, the latest one is used.
  registry.removeSingleMetric(facts.name);
  new Gauge({ ...facts, collect, registers: [registry] });
}
