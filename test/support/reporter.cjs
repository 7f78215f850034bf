// Mocha's spec reporter, which also writes the counts to the file named by MOCHA_REPORT.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      if (process.env.MOCHA_REPORT) {
        writeFileSync(process.env.MOCHA_REPORT, JSON.stringify({ passed: passes, failed: failures, skipped: pending }));
      }
    });
  }
};
