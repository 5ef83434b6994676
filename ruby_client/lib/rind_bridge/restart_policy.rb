# frozen_string_literal: true

require_relative 'errors'

module RindBridge
  # When a lost worker may be replaced: the first loss at once, the next ones after growing pauses, and after
  # too many within the window not before a cool-down has passed. Knows no clock and no process.
  class RestartPolicy
    # +restarts+ losses within +window+ seconds are too many; +pause+ seconds before the second restart, twice
    # as long before each further one; +cool_down+ seconds of echo alone. Raises InvalidSetting.
    def initialize(restarts: 5, window: 180, pause: 0.1, cool_down: 60)
      check(restarts: restarts, window: window, pause: pause, cool_down: cool_down)
      @restarts = restarts
      @window = window
      @pause = pause
      @cool_down = cool_down
      @losses = []
      @not_before = nil
    end

    # A worker was lost, or could not be started, at +now+ (seconds). Gives true when that was one too many.
    def lost(now)
      @losses << now
      @losses.shift while @losses.first <= now - @window
      @not_before = now + delay
      exhausted?
    end

    # Gives the seconds until a worker may be started; 0 when it may be now.
    def wait(now)
      return 0 if @not_before.nil? || now >= @not_before

      @not_before - now
    end

    # Call it when a worker is started: whoever waited for the cool-down begins with a clean window.
    def started
      @losses.clear if exhausted?
      @not_before = nil
    end

    def exhausted?
      @losses.length >= @restarts
    end

    private

    def check(**settings)
      settings.each do |name, value|
        least = name == :restarts ? 1 : 0
        next if value.is_a?(Numeric) && value >= least

        raise InvalidSetting, "#{name} must be a number, at least #{least}, not #{value.inspect}"
      end
    end

    def delay
      return @cool_down if exhausted?

      @losses.length < 2 ? 0 : @pause * (2**(@losses.length - 2))
    end
  end
end
