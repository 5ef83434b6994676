# frozen_string_literal: true

module RindBridge
  # When a lost worker may be replaced: the first loss at once, the next ones after growing pauses, and after
  # too many within the window not before a cool-down has passed. Knows no clock and no process.
  #
  # A worker that answered before and is then killed for one call (too slow, unreadable, interrupted) was well: that
  # loss counts only until some worker answers again, and costs no pause.
  class RestartPolicy
    # +restarts+ losses within +window+ seconds are too many; +pause+ seconds before the second restart, twice
    # as long before each further one; +cool_down+ seconds of echo alone. Raises InvalidSetting.
    def initialize(restarts: 5, window: 180, pause: 0.1, cool_down: 60)
      InvalidSetting.check(1, restarts: restarts)
      InvalidSetting.check(0, window: window, pause: pause, cool_down: cool_down)
      @restarts = restarts
      @window = window
      @pause = pause
      @cool_down = cool_down
      @losses = []
      @lost_to_calls = 0
      @not_before = 0
    end

    # A worker was lost at +now+ (seconds), or could not be started; +by_call+ when a call was the reason. Returns
    # whether that was one too many.
    def lost(now, by_call: false)
      by_call ? @lost_to_calls += 1 : @losses << now
      @losses.reject! { |time| time <= now - @window }
      @not_before = now + delay(by_call)
      exhausted?
    end

    # A worker has answered a call.
    def answered
      @lost_to_calls = 0
    end

    # Returns the seconds until a worker may be started; 0 when it may be now.
    def wait(now) = [@not_before - now, 0].max

    # Call it when a worker is started: whoever waited for the cool-down begins with a clean window.
    def started
      return unless exhausted?

      @losses.clear
      @lost_to_calls = 0
    end

    def exhausted? = @losses.length + @lost_to_calls >= @restarts

    private

    def delay(by_call)
      return @cool_down if exhausted?

      by_call || @losses.length < 2 ? 0 : @pause * (2**(@losses.length - 2))
    end
  end
end
