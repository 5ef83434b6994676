# frozen_string_literal: true

module RindBridge
  # Time that nobody can set: deadlines are points on this clock, in seconds.
  module Clock
    def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
