/** Whether the service can work. */
export interface Service {
  readiness(): Promise<{ database: boolean; keys: boolean }>;
}
