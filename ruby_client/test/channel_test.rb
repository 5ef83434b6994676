# frozen_string_literal: true

require 'test_helper'

class ChannelTest < Minitest::Test
  def setup
    @peer_in, input = IO.pipe(binmode: true)
    output, @peer_out = IO.pipe(binmode: true)
    @channel = RindBridge::Channel.new(input, output)
  end

  def teardown
    @channel.close
    [@peer_in, @peer_out].each(&:close)
  end

  def test_a_line_goes_out_whole
    @channel.write("é\n", soon)

    assert_equal "é\n".b, @peer_in.readpartial(100)
  end

  def test_lines_come_in_whole_byte_by_byte_and_glued_together
    @peer_out << "one\n"

    assert_equal 'one', read(soon)
    writer = Thread.new { "two é\n".b.each_char { |byte| @peer_out << byte && sleep(0.001) } }

    assert_equal 'two é', read(later)
    writer.join
    @peer_out << "three\nfour\nfi"

    assert_equal %w[three four], [read(soon), read(soon)]
    @peer_out << "ve\n"

    assert_equal 'five', read(soon)
  end

  def test_only_a_line_feed_ends_a_line
    @peer_out << "a\u2028b\u0085c\rd\n"

    assert_equal "a\u2028b\u0085c\rd", read(soon)
  end

  def test_a_deadline_is_one_for_the_whole_line
    @peer_out << 'half'

    assert_raises(RindBridge::DeadlinePassed) { read(soon) }
    @peer_out << " a line\n"

    assert_equal 'half a line', read(soon)
  end

  def test_the_end_of_input_is_a_death_after_what_arrived_was_read
    @peer_out << "last\nhalf"
    @peer_out.close

    assert_equal 'last', read(soon)
    assert_raises(RindBridge::WorkerDied) { read(soon) }
    assert_raises(RindBridge::WorkerDied) { read(soon) }
  end

  def test_what_a_peer_wrote_before_it_closed_its_input_is_read
    @peer_out << "refused\n"
    @peer_in.close
    @channel.write("x\n", soon)

    assert_equal 'refused', read(soon)
  end

  def test_a_peer_that_does_not_read_costs_a_deadline
    assert_raises(RindBridge::DeadlinePassed) { @channel.write("#{'x' * 10_000_000}\n", soon) }
  end

  def test_a_long_line_out_and_a_long_line_in_cross
    peer = Thread.new do
      @peer_out.write('y' * 5_000_000, "\n")
      read = 0
      read += @peer_in.readpartial(65_536).bytesize while read < 5_000_001
      read
    end
    @channel.write("#{'x' * 5_000_000}\n", later)

    assert_equal 5_000_000, read(later).bytesize
    assert_equal 5_000_001, peer.value
  end

  private

  # The next line without its end.
  def read(deadline) = @channel.read(deadline).chomp

  def soon = RindBridge::Clock.now + 0.1
  def later = RindBridge::Clock.now + 30
end
