# frozen_string_literal: true

module RindBridge
  # One page of something longer that the worker keeps, and the way to the pages after it.
  class Page
    # +fields+ is the worker's result; the block takes the next place (keywords) and gives the Page there.
    def initialize(fields, &fetch)
      @fields = fields
      @fetch = fetch
      freeze
    end

    # The worker's result, by its names.
    def to_h = @fields

    def [](name) = @fields[name.to_s]

    # True when nothing comes after this page.
    def last? = next_place.nil?

    # Gives the page after this one, nil when there is none.
    def next_page
      last? ? nil : @fetch.call(**next_place)
    end

    # Yields this page and all that follow, each read when it is asked for; without a block gives an Enumerator.
    # Raises what the call raises that gave this page.
    def each_page
      return to_enum(:each_page) unless block_given?

      page = self
      while page
        yield page
        page = page.next_page
      end
      self
    end

    # Without the contents: a terminal shows this in irb and with a NoMethodError.
    def inspect = "#<#{self.class} #{last? ? 'the last' : "next: #{next_place}"}>"
  end

  # Lines of a stored output; their contents, joined over all pages, are the file.
  class OutputPage < Page
    def content = self['content']

    # The line after this page, from 1; nil at the end.
    def next_offset = self['next_offset']

    # Where in that line it goes on, in characters from 1: a line may be too long for one page. nil at the end.
    def next_column = self['next_column']

    private

    def next_place
      next_offset && { offset: next_offset, column: next_column || 1 }
    end
  end

  # Saved projections of a session, in order.
  class ReplayPage < Page
    # An Array of Hashes: the projections with sequence, call_id and time.
    def items = self['items']

    # The sequence number that the next page comes after; nil at the end.
    def next_after = self['next_after']

    # Yields the items of this page and of all that follow; without a block gives an Enumerator.
    def each_item(&block)
      return to_enum(:each_item) unless block

      each_page { |page| page.items.each(&block) }
    end

    private

    def next_place
      next_after && { after: next_after }
    end
  end
end
